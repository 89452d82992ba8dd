package tfutil

// ToGo is for tests.
var ToGo = toGo

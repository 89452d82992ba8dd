// Package bench measures the provider beside a bare client of the Kubernetes API,
// in one run and on one API server: what an apply, a plan, a change, a scale and a
// destroy of one vnf_instance cost in time, requests, CPU and memory, as ratios to
// the floor: what the server itself makes possible, and for Terraform what it takes with a
// provider of the same framework that does nothing (folder empty). It holds benchmarks only, and none of them
// fails because a machine is slow.
//
// Three lives each of 60 to 10,000 objects are led. BENCHFLAGS and the environment
// choose others:
//
//	make bench
//	BENCH_LIVES=5 make bench BENCHFLAGS='-bench Kubernetes/objects=300'
//	BENCH_SUBJECTS=engine make bench BENCHFLAGS='-bench Kubernetes/objects=1000 -cpuprofile=cpu.out'
//	BENCH_PROVIDER=/path/to/another/build make bench
//	BENCH_AGENT=terraform-provider-vnf/1.2.3 make bench
//
// last.txt has the last table.
//
// The loop deletes all objects at once and does not wait for their end. The provider leaves configuration, accounts and addresses until the
// pods that use them are gone, which the garbage collector and the kubelets see to: of a destroy of 300 objects on a fast network that takes
// a third to half of the time.
//
// BenchmarkRoundTrips leads lives of 60 objects with an API server that is 100 ms away, and counts how many requests wait for one another.
// BENCH_TRACE names a file for all these requests.
//
// BenchmarkFleets leads 20 to 1,000 instances of one package through their lives at the same time, beside a loop over all their objects, and
// prints what an instance costs among 1,000 and among 100: what grows with the number of others. The largest is led once unless BENCH_LIVES
// says how often; -bench Fleets/instances=100,objects=12 leads one of them. Terraform's
// own share of the processor time grows faster than the number of instances, with the empty provider as well; the provider's does not.
//
// BenchmarkStoreRoundTrips leads lives of 60 objects when VIM and store are 100 ms away, and counts how many requests wait for one another
// besides those of the local store.
//
// BenchmarkOpenStack and BenchmarkClusterAPI lead a VNF on OpenStack and a workload cluster through their lives, and print what each step takes
// beyond the time that Heat and Cluster API are busy, and what it asks for.
//
// BenchmarkStores leads a life of 300 objects with each kind of store, and prints what each adds to the local one.
//
// BenchmarkHelm installs a chart of 300 objects with Helm's own command and with the provider, and prints both times and their ratio.
// BenchmarkLargePackages plans five instances of packages of 40 MiB. On two processors that other work had as well (load 12 to 20), medians
// of three runs were
//
//	helm install --wait, 300 objects            34.3 s
//	terraform apply, the same chart              6.7 s   ratio 0.20
//	first plan, five packages of 40 MiB          0.7 s
//	their apply, with the VIM                    3.0 s
//	plan without a change                        1.0 s
//
// The command go test -bench 'Render|Drift' ./internal/infra/kubernetes measures what
// needs no API server.
package bench

package controllers

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const namespace = "core"

// newFactory is a client that holds the objects, with informers that have read them.
func newFactory(t *testing.T, objects ...runtime.Object) (*fake.Clientset, informers.SharedInformerFactory) {
	t.Helper()
	client := fake.NewClientset(objects...)
	return client, informers.NewSharedInformerFactory(client, 0)
}

func synced(t *testing.T, factory informers.SharedInformerFactory) {
	t.Helper()
	factory.Start(t.Context().Done())
	for kind, done := range factory.WaitForCacheSync(t.Context().Done()) {
		if !done {
			t.Fatalf("%s were not read", kind)
		}
	}
}

func claim(edit func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	standard := "standard"
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "data-db-0", UID: "u1", CreationTimestamp: metav1.Now(),
			Annotations: map[string]string{annotationProvisioner: Provisioner},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &standard,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")}},
		},
	}
	edit(c)
	return c
}

func class(name string, mode storagev1.VolumeBindingMode, parameters map[string]string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: Provisioner, VolumeBindingMode: &mode, Parameters: parameters}
}

func TestProvision(t *testing.T) {
	of := func(name string) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &name }
	}
	tests := map[string]struct {
		edit  func(*corev1.PersistentVolumeClaim)
		made  bool
		later bool
	}{
		"immediate":       {edit: func(*corev1.PersistentVolumeClaim) {}, made: true},
		"not handed over": {edit: func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil }},
		"of another":      {edit: func(c *corev1.PersistentVolumeClaim) { c.Annotations[annotationProvisioner] = "csi.example.org" }},
		"bound":           {edit: func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" }},
		"waits for a pod": {edit: of("wait")},
		"node chosen":     {edit: func(c *corev1.PersistentVolumeClaim) { of("wait")(c); c.Annotations[annotationSelectedNode] = "node-0" }, made: true},
		"slow":            {edit: of("slow"), later: true},
		"slow, a minute ago": {edit: func(c *corev1.PersistentVolumeClaim) {
			of("slow")(c)
			c.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Minute))
		}, made: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := claim(test.edit)
			client, factory := newFactory(t, c,
				class("standard", storagev1.VolumeBindingImmediate, nil),
				class("wait", storagev1.VolumeBindingWaitForFirstConsumer, nil),
				class("slow", storagev1.VolumeBindingImmediate, map[string]string{ParameterDelay: "5s"}))
			p, err := newProvisioner(client, factory, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			synced(t, factory)
			after, err := p.provision(t.Context(), c.Namespace, c.Name)
			if err != nil || (after > 0) != test.later {
				t.Fatalf("again after %s, error %v", after, err)
			}
			volumes, err := client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if made := len(volumes.Items) == 1; made != test.made {
				t.Fatalf("volume made: %v", made)
			}
			if !test.made {
				return
			}
			volume := volumes.Items[0]
			if ref := volume.Spec.ClaimRef; ref.UID != c.UID || ref.Name != c.Name || ref.Namespace != c.Namespace {
				t.Errorf("the volume is for %+v", ref)
			}
			want := resource.MustParse("5Gi")
			if got := volume.Spec.Capacity[corev1.ResourceStorage]; got.Cmp(want) != 0 {
				t.Errorf("capacity %s", got.String())
			}
		})
	}
}

func TestReclaim(t *testing.T) {
	volume := func(edit func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "v", Annotations: map[string]string{annotationProvisionedBy: Provisioner}},
			Spec:       corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete},
			Status:     corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased},
		}
		edit(v)
		return v
	}
	tests := map[string]struct {
		edit    func(*corev1.PersistentVolume)
		deleted bool
	}{
		"released": {edit: func(*corev1.PersistentVolume) {}, deleted: true},
		"bound":    {edit: func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }},
		"retained": {edit: func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}},
		"not ours": {edit: func(v *corev1.PersistentVolume) { v.Annotations = nil }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, factory := newFactory(t, volume(test.edit))
			p, err := newProvisioner(client, factory, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			synced(t, factory)
			if _, err := p.reclaim(t.Context(), "", "v"); err != nil {
				t.Fatal(err)
			}
			volumes, err := client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if deleted := len(volumes.Items) == 0; deleted != test.deleted {
				t.Errorf("deleted: %v", deleted)
			}
		})
	}
}

func TestScale(t *testing.T) {
	two, three := int32(2), int32(3)
	tests := map[string]struct {
		kind    string
		desired string
		want    []int32
		refused bool
	}{
		"deployment up":      {kind: kindDeployment, desired: "5", want: []int32{5}},
		"stateful set up":    {kind: kindStatefulSet, desired: "5", want: []int32{5}},
		"already there":      {kind: kindDeployment, desired: "3"},
		"above the maximum":  {kind: kindDeployment, desired: "50", want: []int32{6}},
		"below the minimum":  {kind: kindDeployment, desired: "0", want: []int32{2}},
		"no number":          {kind: kindDeployment, desired: "many", refused: true},
		"another kind":       {kind: "ReplicaSet", desired: "5"},
		"target of no scale": {kind: kindDeployment, desired: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hpa := &autoscalingv2.HorizontalPodAutoscaler{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "amf", Annotations: map[string]string{DesiredAnnotation: test.desired}},
				Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
					ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: test.kind, Name: "amf"},
					MinReplicas:    &two, MaxReplicas: 6,
				},
			}
			if test.desired == "" {
				hpa.Annotations = nil
			}
			meta := metav1.ObjectMeta{Namespace: namespace, Name: "amf"}
			client, factory := newFactory(t, hpa,
				&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &three}},
				&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &three}})
			var written []int32
			client.PrependReactor("update", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
				update, ok := action.(clienttesting.UpdateAction)
				if !ok || action.GetSubresource() != "scale" {
					return false, nil, nil
				}
				scale, ok := update.GetObject().(*autoscalingv1.Scale)
				if !ok {
					return false, nil, nil
				}
				written = append(written, scale.Spec.Replicas)
				return true, scale, nil
			})
			a, err := newAutoscaler(client, factory, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			synced(t, factory)
			if _, err := a.scale(t.Context(), namespace, "amf"); (err != nil) != test.refused {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, written); diff != "" {
				t.Errorf("replicas written (-want +got):\n%s", diff)
			}
		})
	}
}

package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
)

// Provisioner is the name storage classes call the lab's volumes by.
const Provisioner = "lab.vnf/volumes"

// ParameterDelay is the parameter of a storage class that says how long making a volume takes, such as 5s.
const ParameterDelay = "delay"

// The annotations by which Kubernetes hands a claim to an external provisioner: kube-controller-manager writes the first
// on a claim whose class names a provisioner that is not its own, kube-scheduler writes the second once it has chosen a
// node for the first pod of a claim whose class waits for one.
const (
	annotationProvisioner   = "volume.kubernetes.io/storage-provisioner"
	annotationSelectedNode  = "volume.kubernetes.io/selected-node"
	annotationProvisionedBy = "pv.kubernetes.io/provisioned-by"
)

// provisioner makes a volume for each claim that is handed to it and deletes released ones. Binding is done by
// kube-controller-manager.
type provisioner struct {
	client  kubernetes.Interface
	classes storagelisters.StorageClassLister
	claim   corelisters.PersistentVolumeClaimLister
	volume  corelisters.PersistentVolumeLister

	claims  *loop
	volumes *loop
}

func newProvisioner(client kubernetes.Interface, factory informers.SharedInformerFactory, log *slog.Logger) (*provisioner, error) {
	claims, volumes := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	p := &provisioner{
		client:  client,
		classes: factory.Storage().V1().StorageClasses().Lister(),
		claim:   claims.Lister(),
		volume:  volumes.Lister(),
	}
	p.claims = newLoop("claims", log, p.provision)
	p.volumes = newLoop("volumes", log, p.reclaim)
	if _, err := claims.Informer().AddEventHandler(p.claims.enqueue()); err != nil {
		return nil, fmt.Errorf("watching claims: %w", err)
	}
	if _, err := volumes.Informer().AddEventHandler(p.volumes.enqueue()); err != nil {
		return nil, fmt.Errorf("watching volumes: %w", err)
	}
	return p, nil
}

func (p *provisioner) provision(ctx context.Context, namespace, name string) (time.Duration, error) {
	claim, err := p.claim.PersistentVolumeClaims(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the claim: %w", err)
	}
	if !wantsVolume(claim) {
		return 0, nil
	}
	class, err := p.classes.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return 0, fmt.Errorf("reading storage class %s: %w", *claim.Spec.StorageClassName, err)
	}
	if class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer &&
		claim.Annotations[annotationSelectedNode] == "" {
		return 0, nil
	}
	left, err := remaining(class, claim, time.Now())
	if err != nil || left > 0 {
		return left, err
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volumeFor(claim, class), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return 0, fmt.Errorf("making the volume: %w", err)
	}
	return 0, nil
}

func wantsVolume(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil && claim.Spec.VolumeName == "" && claim.Spec.StorageClassName != nil &&
		claim.Annotations[annotationProvisioner] == Provisioner
}

// remaining is how long the making of a volume still takes.
func remaining(class *storagev1.StorageClass, claim *corev1.PersistentVolumeClaim, now time.Time) (time.Duration, error) {
	text := class.Parameters[ParameterDelay]
	if text == "" {
		return 0, nil
	}
	delay, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("parameter %s of storage class %s: %w", ParameterDelay, class.Name, err)
	}
	return max(0, claim.CreationTimestamp.Add(delay).Sub(now)), nil
}

// volumeFor is the volume of a claim. Its name follows from the claim's identity, so that a second attempt finds the first.
func volumeFor(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	reclaim := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{annotationProvisionedBy: Provisioner},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			StorageClassName:              class.Name,
			PersistentVolumeReclaimPolicy: reclaim,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			// No pod of a lab ever reads or writes it, so it need not exist.
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/nonexistent/lab/" + name},
			},
		},
	}
}

func (p *provisioner) reclaim(ctx context.Context, _, name string) (time.Duration, error) {
	volume, err := p.volume.Get(name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the volume: %w", err)
	}
	if volume.Annotations[annotationProvisionedBy] != Provisioner || volume.DeletionTimestamp != nil ||
		volume.Status.Phase != corev1.VolumeReleased || volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return 0, nil
	}
	err = p.client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(volume.UID))})
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("deleting the released volume: %w", err)
	}
	return 0, nil
}

package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	"k8s.io/client-go/tools/cache"
)

// DesiredAnnotation on a HorizontalPodAutoscaler is the number of replicas its target is to have. It stands for the
// load that a lab does not have.
const DesiredAnnotation = "lab.vnf/desired-replicas"

// AutoscalerManager is the field manager of the replicas that the autoscaler writes.
const AutoscalerManager = "lab-autoscaler"

// The kinds of target that are scaled.
const (
	kindDeployment  = "Deployment"
	kindStatefulSet = "StatefulSet"
)

// autoscaler writes the replicas of the targets of annotated autoscalers, and does so again whenever somebody else has
// changed them: that is what makes an autoscaler a difficult neighbour.
type autoscaler struct {
	client       kubernetes.Interface
	hpas         autoscalinglisters.HorizontalPodAutoscalerLister
	deployments  appslisters.DeploymentLister
	statefulSets appslisters.StatefulSetLister

	targets *loop
}

func newAutoscaler(client kubernetes.Interface, factory informers.SharedInformerFactory, log *slog.Logger) (*autoscaler, error) {
	hpas := factory.Autoscaling().V2().HorizontalPodAutoscalers()
	deployments, statefulSets := factory.Apps().V1().Deployments(), factory.Apps().V1().StatefulSets()
	a := &autoscaler{client: client, hpas: hpas.Lister(), deployments: deployments.Lister(), statefulSets: statefulSets.Lister()}
	a.targets = newLoop("autoscalers", log, a.scale)
	if _, err := hpas.Informer().AddEventHandler(a.targets.enqueue()); err != nil {
		return nil, fmt.Errorf("watching autoscalers: %w", err)
	}
	if _, err := deployments.Informer().AddEventHandler(a.enqueueOf(kindDeployment)); err != nil {
		return nil, fmt.Errorf("watching deployments: %w", err)
	}
	if _, err := statefulSets.Informer().AddEventHandler(a.enqueueOf(kindStatefulSet)); err != nil {
		return nil, fmt.Errorf("watching stateful sets: %w", err)
	}
	return a, nil
}

// enqueueOf queues the autoscalers whose target has changed.
func (a *autoscaler) enqueueOf(kind string) cache.ResourceEventHandler {
	add := func(object any) {
		named, err := cache.ObjectToName(object)
		if err != nil {
			a.targets.log.Error("an object without a name", "kind", kind, "error", err)
			return
		}
		namespace, name := named.Parts()
		hpas, err := a.hpas.HorizontalPodAutoscalers(namespace).List(labels.Everything())
		if err != nil {
			a.targets.log.Error("listing autoscalers", "namespace", namespace, "error", err)
			return
		}
		for _, hpa := range hpas {
			if hpa.Spec.ScaleTargetRef.Kind == kind && hpa.Spec.ScaleTargetRef.Name == name {
				a.targets.queue.Add(hpa.Namespace + "/" + hpa.Name)
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }}
}

func (a *autoscaler) scale(ctx context.Context, namespace, name string) (time.Duration, error) {
	hpa, err := a.hpas.HorizontalPodAutoscalers(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the autoscaler: %w", err)
	}
	desired, asked, err := desiredReplicas(hpa)
	if err != nil || !asked {
		return 0, err
	}
	target := hpa.Spec.ScaleTargetRef
	live, err := a.replicas(namespace, target)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading %s %s: %w", target.Kind, target.Name, err)
	}
	if live == desired {
		return 0, nil
	}
	if err := a.write(ctx, namespace, target, desired); err != nil {
		return 0, fmt.Errorf("scaling %s %s from %d to %d: %w", target.Kind, target.Name, live, desired, err)
	}
	return 0, nil
}

// desiredReplicas is what the annotation asks for, within the bounds of the autoscaler.
func desiredReplicas(hpa *autoscalingv2.HorizontalPodAutoscaler) (desired int32, asked bool, err error) {
	text, asked := hpa.Annotations[DesiredAnnotation]
	kind := hpa.Spec.ScaleTargetRef.Kind
	if !asked || hpa.DeletionTimestamp != nil || (kind != kindDeployment && kind != kindStatefulSet) {
		return 0, false, nil
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, false, fmt.Errorf("annotation %s: %w", DesiredAnnotation, err)
	}
	lowest := int32(1)
	if hpa.Spec.MinReplicas != nil {
		lowest = *hpa.Spec.MinReplicas
	}
	return min(max(int32(number), lowest), hpa.Spec.MaxReplicas), true, nil
}

func (a *autoscaler) replicas(namespace string, target autoscalingv2.CrossVersionObjectReference) (int32, error) {
	var replicas *int32
	if target.Kind == kindDeployment {
		deployment, err := a.deployments.Deployments(namespace).Get(target.Name)
		if err != nil {
			return 0, err
		}
		replicas = deployment.Spec.Replicas
	} else {
		set, err := a.statefulSets.StatefulSets(namespace).Get(target.Name)
		if err != nil {
			return 0, err
		}
		replicas = set.Spec.Replicas
	}
	if replicas == nil {
		return 1, nil
	}
	return *replicas, nil
}

// write goes through the scale subresource, like the autoscaler of Kubernetes.
func (a *autoscaler) write(ctx context.Context, namespace string, target autoscalingv2.CrossVersionObjectReference, replicas int32) error {
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: target.Name},
		Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
	}
	options := metav1.UpdateOptions{FieldManager: AutoscalerManager}
	var err error
	if target.Kind == kindDeployment {
		_, err = a.client.AppsV1().Deployments(namespace).UpdateScale(ctx, target.Name, scale, options)
	} else {
		_, err = a.client.AppsV1().StatefulSets(namespace).UpdateScale(ctx, target.Name, scale, options)
	}
	return err
}

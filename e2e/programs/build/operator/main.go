// An operator by controller-runtime as people write them: a leader is elected, children are applied and owned, deletions
// wait for a finalizer. It tells on its standard output what it does, a line of JSON each.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	namespace := flag.String("namespace", "default", "where the sites are, and the lease")
	lease := flag.Duration("lease", 3*time.Second, "how long a leader leads without a word")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	if err := run(*namespace, *lease); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(namespace string, lease time.Duration) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addSites(scheme)
	renew, retry := lease*2/3, lease/6
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "sites.programs.example.com",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
	})
	if err != nil {
		return err
	}
	sites := &reconciler{Client: manager.GetClient(), recorder: manager.GetEventRecorder("site-operator")}
	if err := sites.setUp(manager); err != nil {
		return err
	}
	go func() {
		<-manager.Elected()
		say("leading")
	}()
	say("started")
	err = manager.Start(ctrl.SetupSignalHandler())
	say("ended")
	return err
}

func say(what string, details ...any) {
	line := map[string]any{"what": what}
	for at := 0; at+1 < len(details); at += 2 {
		line[fmt.Sprint(details[at])] = details[at+1]
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

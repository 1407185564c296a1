//go:build tools

// Package kwok pins the simulator that plays the kubelets of the tests.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"

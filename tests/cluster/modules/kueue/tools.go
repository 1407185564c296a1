//go:build tools

// Package kueue pins the job queueing controller that admits whole jobs by quota.
package kueue

import _ "sigs.k8s.io/kueue/cmd/kueue"

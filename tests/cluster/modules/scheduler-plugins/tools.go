//go:build tools

// Package plugins pins the scheduler with the coscheduling plugin, and its controller.
package plugins

import (
	_ "sigs.k8s.io/scheduler-plugins/cmd/controller"
	_ "sigs.k8s.io/scheduler-plugins/cmd/scheduler"
)

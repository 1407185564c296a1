//go:build tools

// Package prometheus pins the program that checks and tests our alerts.
package prometheus

import _ "github.com/prometheus/prometheus/cmd/promtool"

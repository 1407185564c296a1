//go:build tools

// Package volcano pins the gang scheduler that the user's documents ask for.
package volcano

import (
	_ "volcano.sh/volcano/cmd/controller-manager"
	_ "volcano.sh/volcano/cmd/scheduler"
)

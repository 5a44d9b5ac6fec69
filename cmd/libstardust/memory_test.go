package main_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// programs are the C programs that the tools for faults of memory run, with what
// follows the directory on their command lines.
func programs() map[string][]string {
	return map[string][]string{"examples": nil, "badinput": nil, "features": nil, "threads": {"300"}}
}

// sanitizers are the flags of -fsanitize=address; faults end the program.
func sanitizers() []string {
	return []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"}
}

// AddressSanitizer sees the programs' memory and every malloc and free of the
// library, and leaks of both when they end.
func (l *library) testSanitizers(t *testing.T, compiler string) {
	l.needSanitizers(t, compiler)
	for name, arguments := range programs() {
		t.Run(name, func(t *testing.T) { l.testSanitized(t, compiler, name, arguments) })
	}
	for _, fault := range []string{"leak", "freed", "short"} {
		t.Run("finds "+fault, func(t *testing.T) {
			program := l.compile(t, compiler, "faulty", sanitizers()...)
			out, err := exec.CommandContext(t.Context(), program, t.TempDir(), fault).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "Sanitizer") && !strings.Contains(string(out), "runtime error") {
				t.Errorf("the fault was not found: %v\n%s", err, tail(out))
			}
		})
	}
}

func (l *library) testSanitized(t *testing.T, compiler, name string, arguments []string) {
	program := l.compile(t, compiler, name, sanitizers()...)
	run(t, ".", program, append([]string{workDir(t)}, arguments...)...)
}

// needSanitizers skips where the compiler lacks their libraries.
func (l *library) needSanitizers(t *testing.T, compiler string) {
	t.Helper()
	need(t, compiler)
	arguments := append(sanitizers(), "-x", "c", "-", "-o", l.path("probe"))
	cmd := exec.CommandContext(t.Context(), compiler, arguments...)
	cmd.Stdin = strings.NewReader("int main(void) { return 0; }")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s has no AddressSanitizer: %s", compiler, tail(out))
	}
}

// Valgrind finds no leak, and no use of memory that was freed or not allocated.
func (l *library) testValgrind(t *testing.T) {
	if testing.Short() {
		t.Skip("valgrind takes half a minute")
	}
	need(t, "valgrind")
	for _, name := range []string{"examples", "badinput", "features"} {
		t.Run(name, func(t *testing.T) {
			log := l.valgrind(t, name, workDir(t))
			if faults := valgrindFaults(log); len(faults) > 0 {
				t.Errorf("%d faults, the first:\n%s", len(faults), faults[0])
			}
		})
	}
	for _, fault := range []string{"leak", "freed", "short"} {
		t.Run("finds "+fault, func(t *testing.T) {
			if faults := valgrindFaults(l.valgrind(t, "faulty", t.TempDir(), fault)); len(faults) == 0 {
				t.Error("the fault was not found")
			}
		})
	}
}

// valgrind runs a program under it and returns what it says.
func (l *library) valgrind(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	program := l.compile(t, "gcc", name)
	log := filepath.Join(t.TempDir(), "log")
	run(t, ".", "valgrind", append([]string{"--leak-check=full", "--show-leak-kinds=all", "--error-limit=no", "--num-callers=6", "--log-file=" + log, program}, arguments...)...)
	return run(t, ".", "sed", `s/^==[0-9]*== \?//`, log)
}

// valgrindFaults returns the messages that are about memory of malloc. Valgrind
// takes Go's stacks, which grow and move, for uninitialized and for no memory at
// all, and says so at length; and each thread of Go's, which never end, keeps
// the block that pthread_create made for it.
func valgrindFaults(log string) (faults []string) {
	about := regexp.MustCompile(`a block of size|Invalid free|Mismatched free|(definitely|indirectly) lost in|still reachable in|possibly lost in`)
	for message := range strings.SplitSeq(log, "\n\n") {
		if about.MatchString(message) && !strings.Contains(message, "pthread_create") {
			faults = append(faults, message)
		}
	}
	return faults
}

// Built with AddressSanitizer itself, the library has every access to C's memory
// looked at. It takes a minute or two to build.
func TestTheLibraryUnderAddressSanitizer(t *testing.T) {
	if long(t) == "" {
		t.Skip("STARDUST_LONG=1 runs it")
	}
	l := buildLibrary(t, "-asan")
	l.needSanitizers(t, "gcc")
	for name, arguments := range programs() {
		t.Run(name, func(t *testing.T) { l.testSanitized(t, "gcc", name, arguments) })
	}
}

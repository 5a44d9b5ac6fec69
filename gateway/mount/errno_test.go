//go:build linux

package mount

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Every call, odd as it may be, gets the errno that POSIX or Linux names for it.
func TestEveryCallGetsItsErrno(t *testing.T) {
	f := mounted(t, nil)
	f.sh("echo content >a; mkdir d full; echo x >full/x; ln -s a link; ln -s loop loop; ln -s missing dangling")
	long := strings.Repeat("n", 256)
	at := f.path
	fd := func(name string, flags int) int {
		n, err := syscall.Open(at(name), flags|syscall.O_CLOEXEC, 0o644)
		if err != nil {
			t.Fatal(name, err)
		}
		t.Cleanup(func() { _ = syscall.Close(n) })
		return n
	}
	reader, writer, dir := fd("a", syscall.O_RDONLY), fd("a", syscall.O_WRONLY), fd("d", syscall.O_RDONLY|syscall.O_DIRECTORY)
	open := func(name string, flags int) error {
		n, err := syscall.Open(at(name), flags, 0o644)
		if err == nil {
			_ = syscall.Close(n)
		}
		return err
	}
	one := make([]byte, 1)
	for _, c := range []struct {
		what      string
		got, want error
	}{
		{"open of nothing", open("x", syscall.O_RDONLY), syscall.ENOENT},
		{"open of no name", open("", syscall.O_WRONLY), syscall.EISDIR},
		{"open beneath a file", open("a/x", syscall.O_RDONLY), syscall.ENOTDIR},
		{"open of a file with a slash", second2(syscall.Open(f.dir+"/a/", syscall.O_RDONLY, 0)), syscall.ENOTDIR},
		{"open of a directory for writing", open("d", syscall.O_WRONLY), syscall.EISDIR},
		{"open of a file as a directory", open("a", syscall.O_RDONLY|syscall.O_DIRECTORY), syscall.ENOTDIR},
		{"open of what is there, exclusively", open("a", syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY), syscall.EEXIST},
		{"the same of a link to nothing", open("dangling", syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY), syscall.EEXIST},
		{"open of a link that isn't followed", open("link", syscall.O_RDONLY|syscall.O_NOFOLLOW), syscall.ELOOP},
		{"open of a loop", open("loop", syscall.O_RDONLY), syscall.ELOOP},
		{"open of a name of 256 bytes", open(long, syscall.O_CREAT|syscall.O_WRONLY), syscall.ENAMETOOLONG},
		{"open of a name of 255 bytes", open(long[1:], syscall.O_CREAT|syscall.O_WRONLY), nil},
		{"open of a name that is no UTF-8", open("\xc3", syscall.O_CREAT|syscall.O_WRONLY), syscall.EILSEQ},
		{"look-up of it", syscall.Access(at("\xc3"), 0), syscall.ENOENT},
		{"a file without a name", open("d", unix.O_TMPFILE|syscall.O_RDWR), syscall.EOPNOTSUPP},
		{"append and empty", open("a", syscall.O_WRONLY|syscall.O_APPEND), nil},

		{"read of what is open for writing", second2(syscall.Pread(writer, one, 0)), syscall.EBADF},
		{"write to what is open for reading", second2(syscall.Pwrite(reader, one, 0)), syscall.EBADF},
		{"read at a negative offset", second2(syscall.Pread(reader, one, -1)), syscall.EINVAL},
		{"read far behind the end", second2(syscall.Pread(reader, one, 1<<62)), nil},
		{"read of a directory", second2(syscall.Read(dir, one)), syscall.EISDIR},
		{"write at a negative offset", second2(syscall.Pwrite(writer, one, -1)), syscall.EINVAL},
		{"write beyond what files can have", second2(syscall.Pwrite(writer, one, 1<<62)), syscall.EFBIG},
		{"seek before the start", second64(syscall.Seek(reader, -1, 0)), syscall.EINVAL},
		{"seek with another whence", second64(syscall.Seek(reader, 0, 99)), syscall.EINVAL},
		{"truncate to less than nothing", syscall.Ftruncate(writer, -1), syscall.EINVAL},
		{"truncate of what is open for reading", syscall.Ftruncate(reader, 1), syscall.EINVAL},
		{"truncate of a directory", syscall.Truncate(at("d"), 0), syscall.EISDIR},
		{"fallocate", unix.Fallocate(writer, 0, 0, 100), syscall.EOPNOTSUPP},

		{"mkdir of what is there", syscall.Mkdir(at("a"), 0o755), syscall.EEXIST},
		{"mkdir in nothing", syscall.Mkdir(at("x/y"), 0o755), syscall.ENOENT},
		{"rmdir of a file", syscall.Rmdir(at("a")), syscall.ENOTDIR},
		{"rmdir of a full directory", syscall.Rmdir(at("full")), syscall.ENOTEMPTY},
		{"rmdir of nothing", syscall.Rmdir(at("x")), syscall.ENOENT},
		{"rmdir of its dot", syscall.Rmdir(at("d") + "/."), syscall.EINVAL},
		{"unlink of a directory", syscall.Unlink(at("d")), syscall.EISDIR},
		{"unlink of nothing", syscall.Unlink(at("x")), syscall.ENOENT},
		{"rename of nothing", syscall.Rename(at("x"), at("y")), syscall.ENOENT},
		{"rename of a file over a directory", syscall.Rename(at("a"), at("d")), syscall.EISDIR},
		{"rename of a directory over a file", syscall.Rename(at("d"), at("a")), syscall.ENOTDIR},
		{"rename of a directory over a full one", syscall.Rename(at("d"), at("full")), syscall.ENOTEMPTY},
		{"rename of a directory into itself", syscall.Rename(at("full"), at("full/x2")), syscall.EINVAL},
		{"rename to a name of 256 bytes", syscall.Rename(at("a"), at(long)), syscall.ENAMETOOLONG},
		{"rename that replaces nothing, over something", unix.Renameat2(unix.AT_FDCWD, at("a"), unix.AT_FDCWD, at("link"), unix.RENAME_NOREPLACE), syscall.EEXIST},
		{"exchange", unix.Renameat2(unix.AT_FDCWD, at("a"), unix.AT_FDCWD, at("link"), unix.RENAME_EXCHANGE), syscall.EINVAL},
		{"rename to another file system", syscall.Rename(at("a"), os.TempDir()+"/stardust-exdev"), syscall.EXDEV},
		{"a hard link", syscall.Link(at("a"), at("hard")), syscall.EPERM},
		{"a FIFO", syscall.Mkfifo(at("fifo"), 0o644), syscall.EPERM},
		{"a device", syscall.Mknod(at("device"), syscall.S_IFCHR|0o644, 0x103), syscall.EPERM},
		{"a file by mknod", syscall.Mknod(at("made"), syscall.S_IFREG|0o644, 0), nil},
		{"a link to nothing at all", symlink("", at("empty")), syscall.ENOENT},
		{"a link to too much", symlink(strings.Repeat("x", 4097), at("toolong")), syscall.ENAMETOOLONG},
		{"readlink of a file", second2(syscall.Readlink(at("a"), one)), syscall.EINVAL},
		{"chown to another", syscall.Chown(at("a"), 12345, -1), syscall.EPERM},
		{"chmod of nothing", syscall.Chmod(at("x"), 0o600), syscall.ENOENT},
		{"an extended attribute", syscall.Setxattr(at("a"), "user.a", one, 0), syscall.EOPNOTSUPP},
		{"fsync of a directory", syscall.Fsync(dir), nil},
		{"statfs", syscall.Statfs(at("a"), new(syscall.Statfs_t)), nil},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	if got := f.sh("cat a; ls full"); got != "content\nx\n" {
		t.Errorf("in the end: %q", got)
	}
}

func second2(_ int, err error) error { return err }

func second64(_ int64, err error) error { return err }

func symlink(target, path string) error { return syscall.Symlink(target, path) }

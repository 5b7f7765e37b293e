package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"sensegate/store"
)

func (s *Server) layout(r *http.Request) (any, error) { return s.db.Layout(r.Context()) }

func (s *Server) checkDatabase(r *http.Request) (any, error) {
	return s.db.CheckCopy(r.Context())
}

func showLayout(ctx context.Context, c command, _ []string) error {
	var l store.Layout
	if err := c.client.do(ctx, http.MethodGet, "/db/stat", nil, &l); err != nil {
		return err
	}
	return c.print(l, func(w io.Writer) {
		fmt.Fprintln(w, "BUCKET\tKEYS\tBYTES\tPAGES")
		for _, b := range l.Buckets {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", b.Name, b.Keys, b.Bytes, b.Pages)
		}
		fmt.Fprintf(w, "\n%s: schema %d, %d bytes, %d pages of %d bytes, %d of them free\n", l.Path, l.Schema, l.Size, l.Pages, l.PageSize, l.FreePages)
	})
}

func showCheck(ctx context.Context, c command, _ []string) error {
	var left store.LeftOut
	if err := c.client.do(ctx, http.MethodGet, "/db/check", nil, &left); err != nil {
		return err
	}
	if err := c.print(left, func(w io.Writer) { fmt.Fprintln(w, "every page and every index is whole") }); err != nil {
		return err
	}
	if left != (store.LeftOut{}) {
		return fmt.Errorf("%d records of the history and %d blocks of samples cannot be read: they are left out of every answer, and go when their time is over", left.Records, left.Samples)
	}
	return nil
}

// compactDatabase is the db compact command; no appliance may run.
func compactDatabase(ctx context.Context, c command, _ []string) error {
	done, err := store.Compact(ctx, store.Options{Path: Database(c.stateDir)})
	if err != nil {
		return err
	}
	return c.print(done, func(w io.Writer) { fmt.Fprintf(w, "%d bytes, before %d\n", done.After, done.Before) })
}

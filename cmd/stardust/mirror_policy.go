package main

import (
	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// policyFlags say what a mirror keeps.
type policyFlags struct {
	name   string
	root   string
	prefix string
	rules  []string
	limit  byteSize
}

func (p *policyFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.name, "policy", "all", "what to keep: slatedb, all, rules or lru")
	flags.StringVar(&p.root, "root", "", "slatedb: the database's path in the store, to warm it at the start")
	flags.StringVar(&p.prefix, "prefix", "", "all: keep only paths that begin with this")
	flags.StringArrayVar(&p.rules, "keep", nil, "rules: keep paths that match this glob, such as '**/*.sst'; may be repeated")
	flags.Var(&p.limit, "limit", "lru: keep up to this many bytes, such as 10GiB")
}

// check refuses flags of another policy than the chosen one.
func (p *policyFlags) check(cmd *cobra.Command) error {
	of := map[string]string{"root": "slatedb", "prefix": "all", "keep": "rules", "limit": "lru", "compactions-poll": "slatedb"}
	for flag, policy := range of {
		if cmd.Flags().Changed(flag) && p.name != policy {
			return usagef("--%s belongs to --policy %s, not %s", flag, policy, p.name)
		}
	}
	switch p.name {
	case "slatedb", "all":
	case "rules":
		if len(p.rules) == 0 {
			return usagef("--policy rules needs at least one --keep")
		}
	case "lru":
		if p.limit <= 0 {
			return usagef("--policy lru needs --limit")
		}
	default:
		return usagef("--policy %q: it can be slatedb, all, rules or lru", p.name)
	}
	return nil
}

// slateRoot returns the root of the SlateDB, nil when it was not given.
func (p *policyFlags) slateRoot() (*objectstore.Path, error) {
	if p.root == "" {
		return nil, nil
	}
	root, err := parseRoot(p.root)
	if err != nil {
		return nil, err
	}
	return &root, nil
}

// build returns the policy that keeps what the flags say.
func (p *policyFlags) build() (mirror.Policy, error) {
	switch p.name {
	case "slatedb":
		root, err := p.slateRoot()
		if err != nil {
			return nil, err
		}
		return slatedb.NewPolicy(&slatedb.PolicyOptions{Root: root, PathTags: true, WithoutCompactionsPoll: true}), nil
	case "rules":
		rules, err := p.buildRules()
		return rules, err
	case "lru":
		return mirror.NewLRU(int64(p.limit))
	}
	return &mirror.KeepAll{Prefix: p.prefix, WithoutWarming: true}, nil
}

package stardust_test

import (
	"fmt"

	"github.com/stardustdb/stardust"
)

func ExampleParse() {
	nodes, err := stardust.Parse([]byte(`[{name notes} {name drafts under 1}]`), stardust.DUST)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer nodes.Close()
	text, err := nodes.Indent()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output:
	// [
	//   {
	//     "name": "notes"
	//   },
	//   {
	//     "name": "drafts",
	//     "under": 1
	//   }
	// ]
}

func ExampleParse_error() {
	_, err := stardust.Parse([]byte("plugins {\n  objects\n}"), stardust.DUST)
	fmt.Println(err)
	// Output: parse: invalid_argument: DUST text: line 3, column 1: expected a value for the key "objects", found }
}

func ExampleDocument_Root() {
	record, err := stardust.Parse([]byte(`{entity 1 name hello.txt size 14}`), stardust.DUST)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer record.Close()
	root, err := record.Root()
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, value := range root.Members() {
		fmt.Println(name, "is", value.Kind(), value)
	}
	// Output:
	// entity is an integer 1
	// name is a string hello.txt
	// size is an integer 14
}

func ExampleDocument_Decode() {
	record, err := stardust.Parse([]byte(`{entity 1 name hello.txt size 14}`), stardust.DUST)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer record.Close()
	var node struct {
		Entity int64  `json:"entity"`
		Name   string `json:"name"`
	}
	if err := record.Decode(&node); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", node)
	// Output: {Entity:1 Name:hello.txt}
}

// Reads an interval log by HdrHistogram's own reader for Go, merges the rows of each tag, and prints a
// line for each: the tag, the number of rows, the count, p50, p99 and the greatest value.
package main

import (
	"fmt"
	"log"
	"os"
	"sort"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

type part struct {
	rows  int
	whole *hdr.Histogram
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	parts := map[string]*part{}
	for reader := hdr.NewHistogramLogReader(file); ; {
		row, err := reader.NextIntervalHistogram()
		if err != nil {
			log.Fatal(err)
		}
		if row == nil {
			break
		}
		of := parts[row.Tag()]
		if of == nil {
			of = &part{whole: hdr.New(row.LowestTrackableValue(), row.HighestTrackableValue(), int(row.SignificantFigures()))}
			parts[row.Tag()] = of
		}
		if dropped := of.whole.Merge(row); dropped > 0 {
			log.Fatal("values beyond the range: ", dropped)
		}
		of.rows++
	}
	var tags []string
	for tag := range parts {
		tags = append(tags, tag)
	}
	sort.Strings(tags)
	for _, tag := range tags {
		of := parts[tag].whole
		fmt.Printf("%s\t%d\t%d\t%d\t%d\t%d\n", tag, parts[tag].rows, of.TotalCount(),
			of.ValueAtQuantile(50), of.ValueAtQuantile(99), of.Max())
	}
}

package remotewrite

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// label is a name and a value of a series.
type label struct{ name, value string }

// sample is a value at a time in ms since the epoch.
type sample struct {
	at    int64
	value float64
}

// timeSeries is a series with some of its samples, oldest first.
type timeSeries struct {
	labels  []label // by name, without empty values
	samples []sample
}

// stale returns the value that ends a series at once, instead of five minutes after its last sample
// (Prometheus, model/value).
func stale() float64 { return math.Float64frombits(0x7ff0000000000002) }

// newSeries returns a series of a metric; labels are pairs of names and values.
func newSeries(metric string, labels ...string) timeSeries {
	s := timeSeries{labels: []label{{"__name__", metric}}}
	for i := 0; i+1 < len(labels); i += 2 {
		if labels[i+1] != "" {
			s.labels = append(s.labels, label{labels[i], strings.ToValidUTF8(labels[i+1], "?")})
		}
	}
	slices.SortFunc(s.labels, func(a, b label) int { return strings.Compare(a.name, b.name) })
	return s
}

// Numbers of fields and their wire types (Remote Write 1.0, prometheus.WriteRequest).
const (
	fieldTimeSeries = 1<<3 | bytesType // of WriteRequest
	fieldLabel      = 1<<3 | bytesType // of TimeSeries
	fieldSample     = 2<<3 | bytesType
	fieldName       = 1<<3 | bytesType // of Label
	fieldValue      = 2<<3 | bytesType
	fieldDouble     = 1<<3 | fixed64Type // of Sample
	fieldTimestamp  = 2<<3 | varintType

	varintType, fixed64Type, bytesType = 0, 1, 2
)

// encode returns a WriteRequest, not compressed.
func encode(all []timeSeries) (message []byte) {
	var series, part []byte
	for _, s := range all {
		series = series[:0]
		for _, l := range s.labels {
			part = appendBytes(appendBytes(part[:0], fieldName, []byte(l.name)), fieldValue, []byte(l.value))
			series = appendBytes(series, fieldLabel, part)
		}
		for _, one := range s.samples {
			part = binary.LittleEndian.AppendUint64(append(part[:0], fieldDouble), math.Float64bits(one.value))
			part = binary.AppendUvarint(append(part, fieldTimestamp), uint64(one.at))
			series = appendBytes(series, fieldSample, part)
		}
		message = appendBytes(message, fieldTimeSeries, series)
	}
	return message
}

// appendBytes appends a field of a length and bytes.
func appendBytes(to []byte, field byte, value []byte) []byte {
	return append(binary.AppendUvarint(append(to, field), uint64(len(value))), value...)
}

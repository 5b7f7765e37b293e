package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/detect"
)

// draw sets the chart of a part of the day that begins at midnight.
func (p *part) draw(home *scenario.Scenario, midnight motion.Time, s span) {
	p.chart = p.moments.chart(s)
	p.chart.Group, p.chart.Name = home.Name, home.Name+" at "+clock(s.from)
	p.chart.figures = figures{
		Recall: ratio(100, p.hits, p.moving), FalsePositives: ratio(100, p.alarms, p.empty),
		StillFlagged: ratio(100, p.stillHits, p.still), Latency: p.latency(),
	}
	var ticks []detect.Tick
	for _, at := range p.moments.times {
		reach, known := p.reach[midnight.Add(at)]
		ticks = append(ticks, detect.Tick{Time: motion.Time(at), Valid: known, Reach: reach})
	}
	p.chart.Panels = []panel{s.plot("reach of the strongest link", "The share of what starts motion that is there, of the link that is nearest to it.", reachAxis(), ticks,
		curve{"statistic", "statistic", func(t *detect.Tick) float64 { return t.Reach }},
		curve{"starts motion", "on", func(*detect.Tick) float64 { return 1 }})}
}

const sceneReading = "Above the dashed line that link starts motion. The home does when a link is in motion by a stricter verdict than that, or when two " +
	"links start in the same moment (docs/spec/lm1.md 4): so the line can be crossed without motion."

// scenePage returns the content of the page of simulated homes. Its rows are those of the table that is printed.
func scenePage(play Play, rows []string, parts []*part) *pageContent {
	content := &pageContent{
		Title: "Detection in simulated homes", Part: "part of a day", Parts: "Parts of days", Reading: sceneReading,
		About: fmt.Sprintf("Simulated: people, radio and truth are those of the simulator, seed %d. No figure here is of a real home.", play.Seed),
	}
	for _, row := range slices.Concat([]string{sceneColumns}, rows) {
		content.Homes = append(content.Homes, strings.Split(strings.TrimSuffix(row, "\t"), "\t"))
	}
	for _, p := range parts {
		content.Charts = append(content.Charts, p.chart)
	}
	content.rank()
	return content
}

// The last minute of links, with what is what beside it.

import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../state";
import { list } from "../text";
import { su } from "../words/setup";
import { feltBy, type Felt } from "./installation";
import { linkName, type SensingLink } from "./linklist";
import { Key, Plot } from "./plot";
import { past, record } from "./ring";

const length = 60; // s
const steps = 120;
const step = length / steps;
const most = 5; // lines that are drawn

/** How strong links feel motion now, for whoever lives in the home: its frames are theirs. */
export function LivePlot({ home, links, label }: { home: number; links: SensingLink[]; label: string }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const end = record(home);
    const timer = setInterval(() => document.visibilityState === "visible" && tick((n) => n + 1), 500);
    return () => {
      end();
      clearInterval(timer);
    };
  }, [home]);
  const to = Math.floor(now.peek() / step) * step;
  return <Drawn links={links} label={label} to={to} step={step} values={(id) => past([id], to, step, steps)} />;
}

/** How strong links feel motion while a walk test runs, for whoever sets the home up. */
export const WalkPlot = ({ felt, links, label }: { felt: Felt; links: SensingLink[]; label: string }) => (
  <Drawn links={links} label={label} to={felt.ts} step={1} values={(id) => feltBy(felt, id, 1, length)} />
);

function Drawn({ links, label, to, step, values }: { links: SensingLink[]; label: string; to: number; step: number; values: (link: string) => (number | null)[] }) {
  const looks = useRef(new Map<string, number>()); // a link keeps its look
  const lines = links.map((l) => {
    const of = values(l.id);
    return { id: l.id, name: linkName(l), values: of, peak: of.reduce<number>((a, v) => Math.max(a, v ?? -1), -1) };
  });
  const drawn = lines.filter((l) => l.peak >= 0).sort((a, b) => b.peak - a.peak).slice(0, most).map((l) => {
    if (!looks.current.has(l.id)) looks.current.set(l.id, looks.current.size);
    return { ...l, look: looks.current.get(l.id)! };
  }).sort((a, b) => a.look - b.look);
  const over = drawn.filter((l) => l.peak >= 1).map((l) => l.name);
  return (
    <figure class="su-plot">
      <figcaption>{label}</figcaption>
      <Plot lines={drawn} to={to} step={step} steps={length / step} height={200} label={label + " " + (over.length > 0 ? su("suPlotOver", { links: list(over) }) : su("suPlotQuiet"))} />
      {drawn.length === 0 ? <p><small>{su("suPlotNone")}</small></p> : <ul>{drawn.map((l) => <li key={l.id}><Key look={l.look} /> {l.name}</li>)}</ul>}
    </figure>
  );
}

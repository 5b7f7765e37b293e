// Lines over the time before now: 1 is from where on it is motion.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { language, t } from "../text";

/** A line of the plot. look: which colour and which dashes it has. */
export interface PlotLine {
  name: string;
  look: number;
  values: (number | null)[]; // of steps that end at the right edge; null: no data
}

/** Something that happened at a time, s. */
export interface PlotMark {
  at: number;
  text: string;
}

const colours = 5;
const dashes = [[], [8, 4], [2, 3], [12, 4, 2, 4], [5, 2]];
const foot = 28; // px below the lines, for the times
const gaps = [15, 60, 300, 600]; // s between two times
const between = 70; // px between two times, at least

const dashOf = (look: number) => dashes[Math.floor(look / colours) % dashes.length];

/** A piece of a line. */
export const Key = ({ look }: { look: number }) => (
  <svg class={"key colour" + (look % colours)} viewBox="0 0 24 8" aria-hidden="true"><line x1="0" y1="4" x2="24" y2="4" stroke-dasharray={dashOf(look).join(" ")} /></svg>
);

/** Draws lines whose steps are of a length, s, and end at a time; bold is the name of one of them. */
export function Plot({ lines, to, step, steps, label, marks = [], bold = "", height = 280, ceiling = 3 }: { lines: PlotLine[]; to: number; step: number; steps: number; label: string; marks?: PlotMark[]; bold?: string; height?: number; ceiling?: number }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const changed = useSignal(0); // size and theme
  useEffect(() => {
    const again = () => changed.value++;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const fit = new ResizeObserver(again);
    scheme.addEventListener("change", again);
    fit.observe(box.current!);
    return () => {
      scheme.removeEventListener("change", again);
      fit.disconnect();
    };
  }, []);
  void changed.value;
  useEffect(() => {
    const width = box.current!.clientWidth, scale = devicePixelRatio, c = canvas.current!;
    c.width = width * scale;
    c.height = height * scale;
    const ctx = c.getContext("2d");
    if (!ctx) return;
    ctx.scale(scale, scale);
    new Drawing(ctx, width, height - foot, to, step * steps, ceiling).all(lines, step, marks, bold);
  });
  return <div class="plot" ref={box} role="img" aria-label={label} style={{ minHeight: height + "px" }}><canvas ref={canvas} style={{ width: "100%", height: height + "px", display: "block" }} /></div>;
}

/** A drawing whose right edge is a time and whose left edge is a length, s, before it. ceiling is the highest value. */
class Drawing {
  private style = getComputedStyle(document.documentElement);
  constructor(private ctx: CanvasRenderingContext2D, private width: number, private height: number, private to: number, private length: number, private ceiling: number) {}

  private colour = (name: string) => this.style.getPropertyValue("--" + name).trim();
  private x = (before: number) => this.width * (1 + before / this.length); // of s, 0 or less
  private y = (v: number) => this.height * (1 - Math.min(v, this.ceiling) / this.ceiling);

  all(lines: PlotLine[], step: number, marks: PlotMark[], bold: string) {
    this.times();
    for (const l of lines) this.line(l, step, l.name === bold);
    this.threshold();
    for (const m of marks) this.mark(m);
  }

  private times() {
    const { ctx } = this;
    const gap = gaps.find((g) => this.width * (g / this.length) >= between) ?? this.length;
    ctx.font = "13px system-ui";
    ctx.textBaseline = "bottom";
    ctx.fillStyle = this.colour("muted");
    ctx.strokeStyle = this.colour("line");
    ctx.lineWidth = 1;
    for (let v = 0; v >= -this.length; v -= gap) {
      const x = Math.min(this.width - 0.5, Math.max(0.5, this.x(v)));
      this.stroke([[x, this.height], [x, this.height + 6]]);
      ctx.textAlign = v === 0 ? "right" : v - gap < -this.length && x < 30 ? "left" : "center";
      ctx.fillText(axisText(v), x, this.height + foot);
    }
  }

  private line({ values, look }: PlotLine, step: number, bold: boolean) {
    const { ctx } = this;
    ctx.strokeStyle = this.colour("line" + (look % colours));
    ctx.lineWidth = bold ? 4 : 2;
    ctx.setLineDash(dashOf(look));
    let run: [number, number][] = [];
    values.forEach((v, i) => {
      if (v !== null) run.push([this.x((i + 0.5 - values.length) * step), this.y(v)]);
      if (v === null || i === values.length - 1) {
        this.stroke(run);
        run = [];
      }
    });
    ctx.setLineDash([]);
  }

  private threshold() {
    const { ctx } = this;
    ctx.strokeStyle = ctx.fillStyle = this.colour("text");
    ctx.lineWidth = 1;
    ctx.font = "12px system-ui";
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.setLineDash([4, 4]);
    this.stroke([[0, this.y(1)], [this.width, this.y(1)]]);
    ctx.setLineDash([]);
    ctx.fillText(t("liveLine"), this.width, this.y(1) - 4);
  }

  private mark({ at, text }: PlotMark) {
    const { ctx } = this;
    const x = this.x(at - this.to);
    if (x < 0 || x > this.width) return;
    ctx.strokeStyle = ctx.fillStyle = this.colour("motion");
    ctx.textBaseline = "top";
    this.stroke([[x, 0], [x, this.height]]);
    const late = x > 0.8 * this.width;
    ctx.textAlign = late ? "right" : "left";
    ctx.fillText(text, x + (late ? -4 : 4), 0);
  }

  private stroke(points: [number, number][]) {
    this.ctx.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? this.ctx.moveTo(x, y) : this.ctx.lineTo(x, y)));
    this.ctx.stroke();
  }
}

/** A time before the edge: "−30 s". */
function axisText(v: number): string {
  if (v === 0) return t("now");
  const [n, unit] = v % 60 === 0 ? [v / 60, "minute"] : [v, "second"];
  return new Intl.NumberFormat(language.value, { style: "unit", unit, unitDisplay: "narrow" }).format(n);
}

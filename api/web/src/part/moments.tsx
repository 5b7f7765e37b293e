import { useRef } from "preact/hooks";
import { to } from "../route";
import { clock, language, span, t } from "../text";

/** Motion from when it was noticed until it was over. */
export interface Moment {
  id: string;
  start: number;
  end: number | null;
  ended: string;
  room: string;
  tag: string;
}

export interface MomentPage {
  moments: Moment[];
  next: string;
}

/** The tags that people give, and their words. */
export const tags = { Human: "momentTagHuman", False: "momentTagFalse", Pet: "momentTagPet" } as const;
export const isTag = (tag: string): tag is keyof typeof tags => tag in tags;
export const tagText = (tag: string) => (isTag(tag) ? t(tags[tag]) : tag);

export const roomText = (m: Moment) => m.room || t("momentPlace");

/** How long a moment was, in its greatest unit. */
export function lengthText(seconds: number): string {
  return seconds < 60 ? new Intl.NumberFormat(language.value, { style: "unit", unit: "second", unitDisplay: "long" }).format(Math.max(1, Math.round(seconds))) : span(seconds);
}

const lengthOf = (m: Moment) => (m.ended === "open" ? t("now") : m.end === null ? "" : lengthText(m.end - m.start));

/** Moments, each with the way to its why. One that comes while the list is shown slides in. */
export function MomentList({ moments, zone }: { moments: Moment[]; zone: string }) {
  const first = useRef<Set<string> | null>(null);
  first.current ??= new Set(moments.map((m) => m.id));
  return (
    <ul class="moments">
      {moments.map((m) => (
        <li key={m.id} class={first.current!.has(m.id) ? "" : "new"}>
          <a href={to("moment", m.id)}>
            <time class="when">{clock(m.start, zone)}</time>
            <span class="where">{roomText(m)} <small>{[lengthOf(m), m.tag && tagText(m.tag)].filter(Boolean).join(" · ")}</small></span>
            <span class="why">{t("momentWhy")} <span aria-hidden="true">›</span></span>
          </a>
        </li>
      ))}
    </ul>
  );
}

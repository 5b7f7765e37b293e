import { useEffect, useRef } from "preact/hooks";
import { HeatStrip, mean } from "../part/strip";
import { go } from "../route";
import { connected, moving, now, trouble, type Overview } from "../state";
import { clock, t } from "../text";
import { sentence } from "./home";

const back = () => go("");

/** The home for a tablet on the wall: nothing but what can be read from across the room. */
export function Screen({ o }: { o: Overview }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    const leave = (e: KeyboardEvent) => e.key === "Escape" && back();
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  }, []);
  useEffect(() => {
    document.title = `${t("wallTitle")} · ${t("name")}`;
  }, []);
  const lost = trouble.value || (o.home.live && o.home.asked && !connected.value && now.value - o.ts > 10);
  const n = mean(o.today);
  return (
    <main class="wall" onClick={back}>
      <header>
        <span class="clock">{clock(now.value, o.home.timezone)}</span>
        {lost && <span class="banner" role="status">{t("reconnecting")} {t("asOf", { time: clock(o.ts, o.home.timezone) })}</span>}
        <button class="quietly" onClick={back} aria-label={t("home")}>✕</button>
      </header>
      <h1 tabIndex={-1} ref={heading}>{sentence(o, moving.value, now.value)}</h1>
      <ul class={lost ? "old" : undefined}>
        {o.rooms.map((r) => (
          <li key={r.name} class={"tile " + r.state}><span class="mark" aria-hidden="true" /><span class="name">{r.name}</span></li>
        ))}
      </ul>
      <div>
        <HeatStrip strip={o.today} slots={Math.round(86_400 / (o.today.step || 900))} label={n === null ? t("noData") : t("todaySummary", { n })} />
        <p class="axis" aria-hidden="true"><span>00</span><span>06</span><span>{t("noon")}</span><span>18</span><span>24</span></p>
      </div>
      <p class="hint">{t("wallClose")}</p>
    </main>
  );
}

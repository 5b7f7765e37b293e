import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../answer";
import { call } from "../api";
import { HourAxis, slotsOf, useHours } from "../part/hours";
import { screenTitle } from "../part/page";
import { MomentList, type MomentPage } from "../part/moments";
import { HeatStrip, mean, stripText } from "../part/strip";
import { to } from "../route";
import { choose, moving, now, refresh, type Overview, type Room } from "../state";
import { ago, clock, codeText, list, refusal, span, t } from "../text";

/** The one sentence about the home. */
export function sentence(o: Overview, room: string, at: number): string {
  switch (o.state) {
    case "motion":
      return room ? t("motionIn", { room }) : t("motionNow");
    case "quiet":
      return o.last_motion === null ? t("quiet") : t("quietFor", { time: span(at - o.last_motion) });
    case "paused":
      return t("paused");
    default:
      return t("unknown");
  }
}

export function Home({ o }: { o: Overview }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    screenTitle.value = "";
  }, []);
  return (
    <main class="screen home">
      <section class="truth">
        <h1 tabIndex={-1} ref={heading}>{sentence(o, moving.value, now.value)}</h1>
        <p class="hidden" role="status">{o.state === "motion" ? sentence(o, moving.value, 0) : t(o.state)}</p>
        {!o.home.asked && <p class="note">{t("added")} <button onClick={() => choose(o.home.id)}>{t("join")}</button></p>}
        <p>{o.state === "unknown" ? t("unknownHelp") : o.home.scene === "away" ? awayText(o) : o.state === "paused" && o.paused_until !== null ? t("pausedUntil", { time: clock(o.paused_until, o.home.timezone) }) : " "}</p>
        <Scene o={o} />
        <p class="wide"><a href={to("wall")}>{t("wallOpen")}</a></p>
      </section>
      <section class="rooms">
        <h2 class="hidden">{t("rooms")}</h2>
        {o.rooms.length === 0 && <p class="note"><strong>{t("noRooms")}</strong> {t("noRoomsHelp")}</p>}
        <ul>{o.rooms.map((r) => <Tile key={r.name} room={r} />)}</ul>
        <Learning rooms={o.rooms} />
        {o.rooms.length > 0 && <p><a class="edit" href={to("rooms")}>{t("roomsEdit")}</a></p>}
      </section>
      <Today o={o} />
      <Newest o={o} />
      <div class="side">
        {o.people.some((p) => p.at > 0) && <People o={o} />}
        <section class="devices">
          <p>{o.faults.length === 0 ? t("devicesFine", { n: o.devices }) : t("devicesFaulty", { n: o.faults.length, total: o.devices })}</p>
          <ul>{o.faults.map((f, i) => <li key={i}>{f.name}: {codeText("why", f.code) || f.code}</li>)}</ul>
        </section>
      </div>
    </main>
  );
}

/** Who is home, as their phones say. */
function People({ o }: { o: Overview }) {
  return (
    <section class="people">
      <h2>{t("people")}</h2>
      <ul>
        {o.people.map((p, i) => (
          <li key={i}><span class={p.present ? "dot on" : "dot"} />{p.name || t("pending")} <small>{t(p.present ? "present" : p.at === 0 ? "unsaid" : "absent")}</small></li>
        ))}
      </ul>
    </section>
  );
}

/** Who is away since when. */
function awayText(o: Overview): string {
  const { scene_at: at, scene_by: who, timezone } = o.home;
  const time = at ? clock(at, timezone) : "";
  return at === 0 ? t("awaySuffix") : who ? t("awayBy", { who, time }) : t("awaySince", { time });
}

const pauses = [15, 60, 180, 720, 0]; // minutes; 0: until somebody ends it

/** Whether the household is away, and whether sensing is paused; only a person changes it here. */
function Scene({ o }: { o: Overview }) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const menu = useRef<HTMLDetailsElement>(null);
  const act = async (method: string, path: string, body?: object) => {
    busy.value = true;
    wrong.value = "";
    if (menu.current) menu.current.open = false;
    try {
      await call(method, path, body && { network_id: o.home.id, ...body });
      await refresh();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  const leaving = o.home.away_at > now.value;
  const undo = () => act("DELETE", `/web/v1/away?network_id=${o.home.id}`);
  return (
    <div class="scene" role="group" aria-label={t("scene")}>
      <button aria-pressed={o.home.scene === "home" && !leaving} disabled={busy.value || o.read_only} onClick={() => (leaving ? undo() : act("PUT", "/api/v1/scenes", { scene_id: 4 }))}>{t("atHome")}</button>
      <button aria-pressed={o.home.scene === "away"} disabled={busy.value || o.read_only || leaving} onClick={() => o.home.scene === "home" && act("POST", "/web/v1/away", {})}>{t("away")}</button>
      {o.state === "paused" ? (
        <button disabled={busy.value || o.read_only} onClick={() => act("POST", "/web/v1/pause", { paused: false })}>{t("pauseEnd")}</button>
      ) : (
        <details class="menu" ref={menu} onKeyDown={(e) => e.key === "Escape" && (e.currentTarget.open = false)}>
          <summary>{t("pause")}</summary>
          <ul>
            {pauses.map((minutes) => (
              <li key={minutes}>
                <button disabled={busy.value || o.read_only} onClick={() => act("POST", "/web/v1/pause", minutes ? { paused: true, minutes } : { paused: true })}>
                  {minutes ? span(minutes * 60) : t("pauseOpen")}
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
      {leaving && (
        <p class="leaving">
          {t("leaving", { n: Math.min(30, Math.max(1, Math.ceil(o.home.away_at - now.value))) })} <button disabled={busy.value || o.read_only} onClick={undo}>{t("undo")}</button>
        </p>
      )}
      <p class="wrong" role="alert">{wrong}</p>
    </div>
  );
}

function Tile({ room }: { room: Room }) {
  const text =
    room.state === "motion" ? t("motion") :
    room.state === "blind" ? codeText("why", room.why) || t("blind") :
    room.last_motion !== null ? ago(now.value - room.last_motion) :
    room.why === "WARMUP" ? t("whyWARMUP") :
    room.state === "quiet" ? t("quiet") : t("noData");
  return (
    <li class={"tile " + room.state}>
      <span class="mark" aria-hidden="true" />
      <span class="name">{room.name}</span>
      <span class="said">{text}</span>
      <HeatStrip strip={room.strip} label={stripText(room.strip)} />
    </li>
  );
}

/** Which rooms do not know yet what quiet looks like: what they say is less sure. */
function Learning({ rooms }: { rooms: Room[] }) {
  const learning = rooms.filter((r) => r.why === "WARMUP");
  if (learning.length === 0) return null;
  return <p class="learning">{learning.length === rooms.length ? t("learningAll") : t("learning", { rooms: list(learning.map((r) => r.name)) })}</p>;
}

function Today({ o }: { o: Overview }) {
  const n = mean(o.today);
  const hours = useHours(o.today.from, o.today.step || 900, o.home.timezone);
  return (
    <section class="today">
      <h2>{t("today")}</h2>
      <HeatStrip strip={o.today} slots={slotsOf(hours)} label={n === null ? t("noData") : t("todaySummary", { n })} />
      <HourAxis hours={hours} />
      {o.first_motion && <p><strong>{t(o.first_motion.room ? "firstMotion" : "firstMotionAt", { time: clock(o.first_motion.at, o.home.timezone), room: o.first_motion.room })}</strong></p>}
      <p class="muted">{n === null ? t("noData") : t("todaySummary", { n })}</p>
    </section>
  );
}

const shown = 3;

/** The newest moments of today. */
function Newest({ o }: { o: Overview }) {
  const answer = useAnswer<MomentPage>(`/web/v1/moments?network_id=${o.home.id}&from=${o.today.from}&last=${shown}`, 60);
  useEffect(() => {
    if (answer.value) void answer.again();
  }, [o.state]);
  const list = answer.value?.moments;
  return (
    <section class="newest">
      <h2>{t("moments")}</h2>
      {list && list.length === 0 && <p class="muted">{t("momentsNone")}</p>}
      {list && <MomentList moments={list.slice(0, shown)} zone={o.home.timezone} />}
      <p><a href={to("history")}>{t("momentsAll")}</a></p>
    </section>
  );
}

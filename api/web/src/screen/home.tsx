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
import { ago, codeText, list, refusal, span, t } from "../text";

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
        <p>{o.state === "unknown" ? t("unknownHelp") : o.home.scene === "away" ? t("awaySuffix") : " "}</p>
        <Scene o={o} />
      </section>
      <section class="rooms">
        <h2 class="hidden">{t("rooms")}</h2>
        {o.rooms.length === 0 && <p class="note"><strong>{t("noRooms")}</strong> {t("noRoomsHelp")}</p>}
        <ul>{o.rooms.map((r) => <Tile key={r.name} room={r} />)}</ul>
        <Learning rooms={o.rooms} />
      </section>
      <Today o={o} />
      <Newest o={o} />
      <div class="side">
        <section class="people">
          <h2>{t("people")}</h2>
          <ul>
            {o.people.map((p, i) => (
              <li key={i}><span class={p.present ? "dot on" : "dot"} />{p.name || t("pending")} <small>{t(p.present ? "present" : p.at === 0 ? "unsaid" : "absent")}</small></li>
            ))}
          </ul>
        </section>
        <section class="devices">
          <p>{o.faults.length === 0 ? t("devicesFine", { n: o.devices }) : t("devicesFaulty", { n: o.faults.length, total: o.devices })}</p>
          <ul>{o.faults.map((f, i) => <li key={i}>{f.name}: {codeText("why", f.code) || f.code}</li>)}</ul>
        </section>
      </div>
    </main>
  );
}

/** Whether the household is away; only a person changes it here. */
function Scene({ o }: { o: Overview }) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const choose = async (scene: 1 | 4) => {
    busy.value = true;
    wrong.value = "";
    try {
      await call("PUT", "/api/v1/scenes", { scene_id: scene, network_id: o.home.id });
      await refresh();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <div class="scene" role="group" aria-label={t("scene")}>
      <button aria-pressed={o.home.scene === "home"} disabled={busy.value || o.read_only} onClick={() => choose(4)}>{t("atHome")}</button>
      <button aria-pressed={o.home.scene === "away"} disabled={busy.value || o.read_only} onClick={() => choose(1)}>{t("away")}</button>
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
      <p>{n === null ? t("noData") : t("todaySummary", { n })}</p>
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

import { useSignal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { call, Refusal } from "../api";
import { Page } from "../part/page";
import { refresh, type Overview } from "../state";
import { refusal, t } from "../text";

/** Names in the order of a list; those that it does not have keep their places behind. */
function ordered(names: string[], order: string[]): string[] {
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...names].sort((a, b) => place(a) - place(b));
}

/** What the rooms are called, and in which order they stand. */
export function Screen({ o }: { o: Overview }) {
  const owner = o.home.role === "owner";
  const order = useOrder(o);
  const renaming = useSignal("");
  const said = useSignal("");
  const wrong = useSignal("");
  const list = useRef<HTMLUListElement>(null);
  const focus = useRef(""); // the name of the room whose button has the focus next
  const names = order.names;
  const gone = renaming.value !== "" && !names.includes(renaming.value);
  useLayoutEffect(() => {
    const button = focus.current && [...(list.current?.querySelectorAll<HTMLElement>("[data-focus]") ?? [])].find((b) => b.dataset.focus === focus.current);
    if (!button) return;
    focus.current = "";
    button.focus();
  });
  useEffect(() => {
    if (!gone) return;
    wrong.value = t("roomGone", { room: renaming.value });
    renaming.value = "";
    document.querySelector<HTMLElement>("h1")?.focus();
  }, [gone]);
  const move = (name: string, by: number) => {
    const to = names.indexOf(name) + by;
    if (to < 0 || to >= names.length || o.read_only) return;
    wrong.value = "";
    focus.current = `${by} ${name}`;
    said.value = t("roomMoved", { room: name, n: to + 1, total: names.length });
    const next = names.filter((n) => n !== name);
    next.splice(to, 0, name);
    void order.save(next).catch((e) => {
      said.value = "";
      wrong.value = refusal(e);
    });
  };
  const close = (from: string, name = from) => {
    renaming.value = "";
    focus.current = "name " + name;
    if (name === from) return;
    wrong.value = ""; // the list may have come before the answer
    said.value = t("roomRenamed", { room: from, name });
  };
  const arrow = (name: string, by: number, sign: string, words: string, end: boolean) => (
    <button class="step" data-focus={`${by} ${name}`} aria-label={words} aria-disabled={end || o.read_only} onClick={() => move(name, by)}>{sign}</button>
  );
  return (
    <Page title={t("roomsEdit")} kind="edit">
      <p class="muted">{t(owner ? "roomsIntro" : "roomsMember")}</p>
      <p class="hidden" role="status">{said}</p>
      <p class="wrong" role="alert">{wrong}</p>
      {names.length === 0 && <p class="note"><strong>{t("noRooms")}</strong> {t("noRoomsHelp")}</p>}
      <ul class="list" ref={list}>
        {names.map((name, i) => (
          <li key={name}>
            {renaming.value === name ? (
              <Rename o={o} room={name} close={close} gone={() => void refresh()} />
            ) : (
              <>
                <span class="grow">{name}</span>
                <button class="quietly" data-focus={"name " + name} aria-label={t("roomRenameOf", { room: name })} disabled={o.read_only} onClick={() => { renaming.value = name; wrong.value = ""; }}>{t("roomRename")}</button>
                {owner && names.length > 1 && (
                  <span class="row">
                    {arrow(name, -1, "↑", t("roomUp", { room: name }), i === 0)}
                    {arrow(name, 1, "↓", t("roomDown", { room: name }), i === names.length - 1)}
                  </span>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
    </Page>
  );
}

/** The rooms' order: what is being saved stands there until the appliance has told the new one. */
function useOrder(o: Overview) {
  const wanted = useSignal<string[]>([]);
  const saving = useRef(false);
  const names = ordered(o.rooms.map((r) => r.name), wanted.value);
  const save = async (next: string[]) => {
    wanted.value = next;
    if (saving.current) return;
    saving.current = true;
    try {
      for (let sent: string[] = []; sent !== wanted.value; ) {
        sent = wanted.value;
        await call("PUT", "/web/v1/rooms", { network_id: o.home.id, rooms: sent });
        await refresh();
      }
    } finally {
      saving.current = false;
      wanted.value = [];
    }
  };
  return { names, save };
}

/** The form that gives a room another name. */
function Rename({ o, room, close, gone }: { o: Overview; room: string; close: (from: string, name?: string) => void; gone: () => void }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const busy = useSignal(false);
  const wrong = useSignal("");
  useEffect(() => field.current?.select(), []);
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const name = field.current!.value.trim();
    if (name === room) return close(room);
    busy.value = true;
    wrong.value = "";
    try {
      await call("PUT", "/web/v1/rooms/" + encodeURIComponent(room), { network_id: o.home.id, name });
      close(room, name);
      await refresh();
      return;
    } catch (e) {
      const status = e instanceof Refusal ? e.status : 0;
      wrong.value = status === 409 ? t("roomTaken", { name }) : status === 422 ? t("roomSigns") : status === 404 ? t("roomGone", { room }) : refusal(e);
      if (status === 404) gone();
    }
    busy.value = false;
    field.current?.focus();
  };
  return (
    <form class="form" onSubmit={submit} onKeyDown={(e) => e.key === "Escape" && close(room)}>
      <label for={id}>{t("roomNewName", { room })}</label>
      <input id={id} ref={field} required maxLength={256} autocomplete="off" defaultValue={room} aria-describedby={id + "-help"} />
      <small id={id + "-help"}>{t("roomHistory")}</small>
      <p class="wrong" role="alert">{wrong}</p>
      <span class="row">
        <button class="main" disabled={busy}>{t("roomSave")}</button>
        <button type="button" onClick={() => close(room)}>{t("cancel")}</button>
      </span>
    </form>
  );
}

// Files to and from the box, with how far they are.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { proof, Refusal, shown } from "../api";
import { saveFile } from "../part/save";
import { refusal, t } from "../text";
import { bytes, row, worded } from "./part";

/** How a transfer is told how far it is, in bytes of a whole that may not be known (0), and that it is to stop. */
interface Way {
  progress: (bytes: number, of: number) => void;
  stop: AbortSignal;
}

/** Runs a transfer: how far it is, as a bar with a way to stop it, and what came of it. */
export function useTransfer(label: string, wait: string) {
  const far = useSignal<{ bytes: number; of: number } | undefined>(undefined);
  const wrong = useSignal("");
  const said = useSignal("");
  const stop = useRef<AbortController>();
  const run = async (what: (way: Way) => Promise<string>) => {
    const { signal } = (stop.current = new AbortController());
    wrong.value = said.value = "";
    far.value = { bytes: 0, of: 0 };
    try {
      said.value = await what({ progress: (bytes, of) => (far.value = { bytes, of }), stop: signal });
    } catch (e) {
      if (!signal.aborted) wrong.value = refusal(e);
    }
    far.value = undefined;
  };
  const f = far.value;
  const moves = f && f.bytes > 0 && f.bytes !== f.of;
  const bar = (
    <>
      {f && (
        <div class="bx-progress">
          <progress max={f.of || undefined} value={moves && f.of ? f.bytes : undefined} aria-label={label} />
          <p>{moves ? [bytes(f.bytes), f.of && bytes(f.of)].filter(Boolean).join(" / ") : wait}</p>
          <button onClick={() => stop.current?.abort()}>{t("cancel")}</button>
        </div>
      )}
      <p class="wrong" role="alert">{wrong}</p>
      <p class="done" role="status">{said}</p>
    </>
  );
  return { run, bar, busy: f !== undefined, wrong };
}

function refused(status: number, text: string, wait: string | null): Refusal {
  let problem: { code?: string; detail?: string } = {};
  try {
    problem = JSON.parse(text);
  } catch {
    // it is none of the appliance's
  }
  return new Refusal(status, problem.code ?? "", problem.detail ?? "", Number(wait));
}

const offline = () => {
  throw new Refusal(0, "offline", "", 0);
};

const tell = (e: unknown) => {
  throw worded(e);
};

/** Posts fields and saves the file that comes back, once all of it is there. It returns its name. */
export function fetchFile(path: string, fields: object, { progress, stop }: Way): Promise<string> {
  const get = async () => {
    const answer = await fetch(row(path), { method: "POST", headers: { "X-Sensegate": proof(), "Content-Type": "application/json" }, body: JSON.stringify(fields), credentials: "same-origin", cache: "no-store", signal: stop }).catch(offline);
    if (!answer.ok) throw refused(answer.status, await answer.text().catch(() => ""), answer.headers.get("Retry-After"));
    const whole = Number(answer.headers.get("X-Sensegate-Size"));
    const name = /filename="?([\w.-]+)/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "sensegate.db";
    const parts: BlobPart[] = [];
    const reader = answer.body!.getReader();
    for (let came = 0; ; ) {
      const { value, done } = await reader.read().catch(offline); // a file that breaks off is not kept
      if (done) break;
      parts.push(value as BlobPart);
      progress((came += value.length), whole);
    }
    saveFile(new Blob(parts, { type: "application/octet-stream" }), name);
    return name;
  };
  return shown(get).catch(tell);
}

/** Posts a form that holds a file. */
export function sendForm(path: string, form: FormData, { progress, stop }: Way): Promise<void> {
  const send = () =>
    new Promise<void>((done, fail) => {
      if (stop.aborted) return fail(new Refusal(0, "offline", "", 0)); // before it began
      const ask = new XMLHttpRequest(); // fetch does not tell how far it is
      ask.open("POST", row(path));
      ask.setRequestHeader("X-Sensegate", proof());
      ask.upload.onprogress = (e) => progress(e.loaded, e.total);
      ask.onerror = ask.onabort = () => fail(new Refusal(0, "offline", "", 0));
      ask.onload = () => (ask.status < 300 ? done() : fail(refused(ask.status, ask.responseText, ask.getResponseHeader("Retry-After"))));
      stop.onabort = () => ask.abort();
      ask.send(form);
    });
  return shown(send).catch(tell);
}

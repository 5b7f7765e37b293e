// Files to and from the box, with how far they are.

import { proof, Refusal, shown } from "../api";
import { saveFile } from "../part/save";
import { row, worded } from "./part";

/** How many bytes went, of how many: 0 where that is not known. */
export type Progress = (bytes: number, of: number) => void;

function refused(status: number, text: string, wait: string | null): Refusal {
  let problem: { code?: string; detail?: string } = {};
  try {
    problem = JSON.parse(text);
  } catch {
    // it is none of the appliance's
  }
  return new Refusal(status, problem.code ?? "", problem.detail ?? "", Number(wait ?? 0));
}

const offline = () => new Refusal(0, "offline", "", 0);

/** Posts fields and saves the file that comes back, once all of it is there. It returns its name. */
export async function fetchFile(path: string, fields: object, progress: Progress, stop: AbortSignal): Promise<string> {
  const get = async () => {
    const answer = await fetch(row(path), { method: "POST", headers: { "X-Sensegate": proof(), "Content-Type": "application/json" }, body: JSON.stringify(fields), credentials: "same-origin", cache: "no-store", signal: stop }).catch(() => { throw offline(); });
    if (!answer.ok) throw refused(answer.status, await answer.text().catch(() => ""), answer.headers.get("Retry-After"));
    const whole = Number(answer.headers.get("Content-Length") ?? 0);
    const name = /filename="?([\w.-]+)/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "sensegate.db";
    const parts: BlobPart[] = [];
    let came = 0;
    try {
      for (const reader = answer.body!.getReader(); ; ) {
        const { value, done } = await reader.read();
        if (done) break;
        parts.push(value as BlobPart);
        progress((came += value.length), whole);
      }
    } catch {
      throw offline(); // it broke off
    }
    if (whole > 0 && came < whole) throw offline();
    saveFile(new Blob(parts, { type: "application/octet-stream" }), name);
    return name;
  };
  return shown(get).catch((e) => { throw worded(e); });
}

/** Posts a form that holds a file. */
export function sendForm<T>(path: string, form: FormData, progress: Progress, stop: AbortSignal): Promise<T> {
  const send = () =>
    new Promise<T>((done, fail) => {
      const ask = new XMLHttpRequest();
      ask.open("POST", row(path));
      ask.setRequestHeader("X-Sensegate", proof());
      ask.upload.onprogress = (e) => progress(e.loaded, e.total);
      ask.onerror = ask.onabort = () => fail(offline());
      ask.onload = () => {
        if (ask.status >= 300) return fail(refused(ask.status, ask.responseText, ask.getResponseHeader("Retry-After")));
        try {
          done(JSON.parse(ask.responseText));
        } catch {
          fail(offline());
        }
      };
      stop.onabort = () => ask.abort();
      ask.send(form);
    });
  return shown(send).catch((e) => { throw worded(e); });
}

// A link that another device opens: as a QR code, as text, and to be copied.

import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { encode } from "uqr";
import { t } from "../text";

const quiet = 4; // modules around the code (ISO/IEC 18004)

/** A QR code, dark on light in every theme: cameras expect that. */
export function QR({ text, label }: { text: string; label: string }) {
  const { path, size } = useMemo(() => {
    const code = encode(text, { ecc: "M", border: 0 });
    const cells = code.data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + quiet} ${y + quiet}h1v1h-1z` : "")));
    return { path: cells.join(""), size: code.size + 2 * quiet };
  }, [text]);
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path class="light" d={`M0 0h${size}v${size}h-${size}z`} />
      <path class="dark" d={path} />
    </svg>
  );
}

/** Copies a text, or marks it for the person to copy, where the page may not. */
export function Link({ link, label = t("link") }: { link: string; label?: string }) {
  const said = useSignal("");
  const field = useRef<HTMLInputElement>(null);
  const copy = async () => {
    field.current?.select();
    let done = false;
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(link);
      done = navigator.clipboard !== undefined || document.execCommand("copy");
    } catch {
      done = false;
    }
    said.value = t(done ? "copied" : "copyYourself");
  };
  return (
    <div class="copy">
      <input ref={field} readOnly value={link} aria-label={label} onFocus={(e) => e.currentTarget.select()} />
      <button onClick={copy}>{t("copy")}</button>
      <small role="status">{said}</small>
    </div>
  );
}

/**
 * The beginning of links for other devices: the page's own address, unless that is a name or
 * address which they may not know; then that of the appliance.
 */
export function origin(appliance: string): string {
  const ip = /^(\d+\.\d+\.\d+\.\d+|\[.*\])$/;
  const own = (host: string) => host === "localhost" || host === "[::1]" || host.startsWith("127.");
  if (location.protocol === "https:" || (ip.test(location.hostname) && !own(location.hostname)) || own(new URL(appliance).hostname)) return location.origin;
  return appliance;
}

import { createHash } from 'node:crypto';

export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
}

/** The same colours, sizes and mark as the pages of the app, so that signing in is no change of place. */
const STYLE = `
:root{color-scheme:light dark;--canvas:#fbfbfc;--surface:#fff;--raised:#f3f4f6;--line:#e4e5e9;--line-strong:#cfd1d8;--ink:#17181c;--ink-muted:#595d68;--accent:#2f55d4;--accent-hover:#2747b8;--on-accent:#fff;--bad:#b3261e;--bad-soft:#fdecea;--shadow:0 1px 2px rgb(16 18 27/.06),0 8px 24px -8px rgb(16 18 27/.16)}
@media (prefers-color-scheme:dark){:root{--canvas:#0f1013;--surface:#15171b;--raised:#1d2025;--line:#272a31;--line-strong:#3a3e48;--ink:#ecedf0;--ink-muted:#a0a5b1;--accent:#8aa6ff;--accent-hover:#a5bbff;--on-accent:#0d1330;--bad:#ff8a80;--bad-soft:#341a19;--shadow:0 1px 2px rgb(0 0 0/.4),0 12px 32px -8px rgb(0 0 0/.6)}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:1rem;background:var(--canvas);color:var(--ink);font:14px/22px Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;-webkit-font-smoothing:antialiased}
main{width:100%;max-width:24rem;background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:2rem;box-shadow:var(--shadow)}
.brand{display:flex;align-items:center;gap:.625rem;margin:0 0 1.25rem;font-size:20px;line-height:28px;font-weight:600}
.brand svg{width:2rem;height:2rem}
h1{font-size:16px;line-height:24px;font-weight:600;margin:0 0 1rem}
label{display:block;font-size:12px;line-height:18px;font-weight:500;color:var(--ink-muted);margin:.875rem 0 .25rem}
input{width:100%;font:inherit;font-size:14px;color:inherit;background:var(--surface);border:1px solid var(--line-strong);border-radius:6px;padding:0 .75rem;height:2.5rem}
input[aria-invalid=true]{border-color:var(--bad)}
input:focus-visible,button:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a:focus-visible{border-radius:4px}
button{width:100%;margin-top:1.25rem;height:2.5rem;font:inherit;font-weight:500;color:var(--on-accent);background:var(--accent);border:0;border-radius:6px;cursor:pointer}
button:hover{background:var(--accent-hover)}
@media (pointer:coarse),(max-width:767px){input,button{height:2.75rem}input{font-size:16px}.note a{display:inline-block;padding:.7rem 0;margin:-.7rem 0}}
a{color:var(--accent);text-underline-offset:2px}
p{margin:.75rem 0 0}
.note{color:var(--ink-muted);font-size:13px;line-height:20px;margin-top:1.25rem}
.hint{background:var(--raised);border-radius:6px;padding:.5rem .75rem;font-size:13px;line-height:20px;margin:0}
.error{background:var(--bad-soft);color:var(--bad);border-radius:6px;padding:.5rem .75rem;font-size:13px;line-height:20px;margin:0 0 .75rem}
.field-error{color:var(--bad);font-size:12px;line-height:18px;margin:.25rem 0 0}
ul.codes{columns:2;margin:.75rem 0 0;padding:.75rem 1rem .75rem 2rem;background:var(--raised);border-radius:6px;line-height:26px}
.qr{margin:.75rem auto;width:12rem;padding:.5rem;background:#fff;border-radius:6px}
.qr svg{display:block;width:100%}
code{font:.95em ui-monospace,SFMono-Regular,Menlo,monospace}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * A whole page around `body`, with the headers that it needs. @param formTargets origins that a form of the page may
 * lead to, beside our own.
 */
export function page(options: { title: string; body: string; formTargets?: readonly string[]; script?: string }): Page {
  const { title, body, formTargets = [], script } = options;
  const scriptSource =
    script === undefined ? "'none'" : `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; script-src ${scriptSource}; img-src data:; form-action 'self' ${formTargets.join(' ')}; base-uri 'none'; frame-ancestors 'none'`,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      // Not `no-referrer`: a browser would send its forms with the origin `null`.
      'referrer-policy': 'same-origin',
    },
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><style>${STYLE}</style></head><body><main><p class="brand"><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#2f55d4"/><path d="M7 21.5h18M9.5 17.5h11l4.5-8" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>Slipway</p>${body}</main>${script === undefined ? '' : `<script>${script}</script>`}</body></html>`,
  };
}

export function escapeHtml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A labelled input, with its error read out to whoever cannot see it. */
export function field(options: {
  name: string;
  label: string;
  type?: string;
  autocomplete: string;
  value?: string;
  error?: string | undefined;
  autofocus?: boolean;
  minLength?: number;
}): string {
  const { name, label, type = 'text', autocomplete, value = '', error, autofocus = false, minLength } = options;
  const attributes = [
    `id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required`,
    value === '' ? '' : `value="${escapeHtml(value)}"`,
    autofocus ? 'autofocus' : '',
    minLength === undefined ? '' : `minlength="${minLength}"`,
    type === 'text' ? 'autocapitalize="none" spellcheck="false"' : '',
    error === undefined ? '' : `aria-invalid="true" aria-describedby="${name}-error"`,
  ];
  return `<label for="${name}">${label}</label><input ${attributes.filter((attribute) => attribute !== '').join(' ')}>${error === undefined ? '' : `<p class="field-error" id="${name}-error">${escapeHtml(error)}</p>`}`;
}

import { createHash } from 'node:crypto';

export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
}

const STYLE = `
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--text:#16181d;--muted:#565d6b;--line:#c4cad4;--accent:#1f5fd0;--on-accent:#fff;--bad:#b3201c;--bad-bg:#fdecec;--hint:#eef3fd}
@media (prefers-color-scheme:dark){:root{--bg:#0f1115;--card:#181b21;--text:#eceef2;--muted:#a3abb9;--line:#434a57;--accent:#8ab4ff;--on-accent:#0b1220;--bad:#ff9c96;--bad-bg:#3a1a1b;--hint:#1c2636}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem 1rem;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:25rem;background:var(--card);border:1px solid var(--line);border-radius:12px;padding:2rem 1.75rem}
.brand{display:flex;align-items:center;gap:.6rem;margin:0 0 1.25rem;font-weight:600;color:var(--muted)}
.brand svg{width:1.6rem;height:1.6rem;fill:none;stroke:var(--accent);stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 1.25rem}
label{display:block;font-weight:600;margin:1rem 0 .35rem}
input{width:100%;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.6rem .75rem;min-height:2.75rem}
input[aria-invalid=true]{border-color:var(--bad)}
input:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
button{width:100%;margin-top:1.5rem;min-height:2.75rem;font:inherit;font-weight:600;color:var(--on-accent);background:var(--accent);border:0;border-radius:8px;cursor:pointer}
button:hover{filter:brightness(1.08)}
a{color:var(--accent)}
p{margin:.75rem 0 0}
.note{color:var(--muted);font-size:.925rem}
.hint{background:var(--hint);border-radius:8px;padding:.7rem .85rem;font-size:.925rem}
.error{background:var(--bad-bg);color:var(--bad);border-radius:8px;padding:.7rem .85rem;margin:0 0 1rem}
.field-error{color:var(--bad);font-size:.925rem;margin:.35rem 0 0}
code{font:.95em ui-monospace,SFMono-Regular,Menlo,monospace}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** A whole page around `body`, with the headers that it needs. @param formTargets origins that a form of the page may lead to, beside our own. */
export function page(options: { title: string; body: string; formTargets?: readonly string[]; script?: string }): Page {
  const { title, body, formTargets = [], script } = options;
  const scriptSource = script === undefined ? "'none'" : `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
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
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><style>${STYLE}</style></head><body><main><p class="brand"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 17h18l-2.5 4h-13zM12 3v11M12 4l6 8H12M9 7l-4 6h4"/></svg>Slipway</p>${body}</main>${script === undefined ? '' : `<script>${script}</script>`}</body></html>`,
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

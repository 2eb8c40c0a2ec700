import encodeQR from 'qr';
import { keyUri } from '../one-time-code.js';
import { escapeHtml, field, type Page, page } from './layout.js';

interface Step {
  /** Where the form goes. */
  readonly action: string;
  /** Where the browser goes after the last form. */
  readonly returnOrigin: string;
  readonly error?: string | undefined;
}

const alert = (error: string | undefined): string =>
  error === undefined ? '' : `<p class="error" role="alert">${escapeHtml(error)}</p>`;

/** Asks for a code of the authenticator app. */
export function codePage({ action, returnOrigin, error }: Step): Page {
  return page({
    title: 'Second step - Slipway',
    formTargets: [returnOrigin],
    body: `<h1>Second step</h1>
${alert(error)}
<form method="post" action="${escapeHtml(action)}">
${field({ name: 'code', label: 'Code of your authenticator app', autocomplete: 'one-time-code', autofocus: true })}
<button type="submit">Go on</button>
</form>
<p class="note">No access to the app? Enter one of your recovery codes instead; each works once.</p>`,
  });
}

/** Shows the secret, to be scanned or typed, and asks for the app's first code. */
export function setUpPage({
  action,
  returnOrigin,
  error,
  username,
  secret,
}: Step & { username: string; secret: string }): Page {
  const picture = encodeQR(keyUri(username, secret), 'svg', { ecc: 'medium' }).replace(
    '<svg ',
    '<svg role="img" aria-label="QR code of the key below" ',
  );
  return page({
    title: 'Set up a second factor - Slipway',
    formTargets: [returnOrigin],
    body: `<h1>Set up a second factor</h1>
${alert(error)}
<p>Scan this with an authenticator app on your phone, or type the key into it.</p>
<div class="qr">${picture}</div>
<p class="hint">Key: <code id="secret">${escapeHtml((secret.match(/.{1,4}/g) ?? []).join(' '))}</code></p>
<form method="post" action="${escapeHtml(action)}">
${field({ name: 'code', label: 'Code that the app shows', autocomplete: 'one-time-code', autofocus: true })}
<button type="submit">Set up</button>
</form>`,
  });
}

/** The recovery codes, this once. */
export function recoveryCodesPage({ action, returnOrigin, codes }: Step & { codes: readonly string[] }): Page {
  return page({
    title: 'Recovery codes - Slipway',
    formTargets: [returnOrigin],
    body: `<h1>Keep your recovery codes</h1>
<p>Each of them signs you in once when you do not have the app. They are not shown again.</p>
<ul class="codes">${codes.map((code) => `<li><code>${escapeHtml(code)}</code></li>`).join('')}</ul>
<form method="post" action="${escapeHtml(action)}"><button type="submit">I have kept them</button></form>`,
  });
}

/** After a sign-in by a recovery code. */
export function recoveredPage({
  action,
  returnOrigin,
  left,
  setUpHref,
}: Step & { left: number; setUpHref: string }): Page {
  return page({
    title: 'Recovery code used - Slipway',
    formTargets: [returnOrigin],
    body: `<h1>That code is used up</h1>
<p>${left === 0 ? 'It was the last one. Set up your app again now, or you cannot sign in the next time without it.' : `${left} of your recovery codes ${left === 1 ? 'is' : 'are'} left.`}</p>
<form method="post" action="${escapeHtml(action)}"><button type="submit">Go on</button></form>
<p class="note">Lost the app? <a href="${escapeHtml(setUpHref)}">Set it up again</a></p>`,
  });
}

import { DEMO } from '../accounts.js';
import { escapeHtml, field, type Page, page } from './layout.js';

export interface SignInForm {
  readonly action: string;
  readonly registerHref: string;
  /** Where the browser goes after the form. */
  readonly returnOrigin: string;
  readonly username?: string;
  readonly error?: string;
}

export function signInPage(form: SignInForm): Page {
  const { action, registerHref, returnOrigin, username = '', error } = form;
  return page({
    title: 'Sign in to Slipway',
    formTargets: [returnOrigin],
    body: `<h1>Sign in to Slipway</h1>
${error === undefined ? '' : `<p class="error" role="alert">${escapeHtml(error)}</p>`}
<p class="hint">To try it out, sign in as <code>${DEMO.username}</code> with the password <code>${DEMO.password}</code>.</p>
<form method="post" action="${escapeHtml(action)}">
${field({ name: 'username', label: 'User name or e-mail', autocomplete: 'username', value: username, autofocus: username === '' })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', autofocus: username !== '' })}
<button type="submit">Sign in</button>
</form>
<p class="note">New here? <a href="${escapeHtml(registerHref)}">Create an account</a></p>`,
  });
}

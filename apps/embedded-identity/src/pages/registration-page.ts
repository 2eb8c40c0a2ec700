import { MIN_PASSWORD_LENGTH } from '../accounts.js';
import { escapeHtml, field, type Page, page } from './layout.js';

export interface RegistrationForm {
  readonly action: string;
  readonly signInHref: string;
  readonly returnOrigin: string;
  /** What was typed, without the password. */
  readonly values?: Readonly<Record<string, string>>;
  /** Sentence by field name. */
  readonly errors?: Readonly<Record<string, string>>;
}

export function registrationPage(form: RegistrationForm): Page {
  const { action, signInHref, returnOrigin, values = {}, errors = {} } = form;
  const of = (name: string) => ({ name, value: values[name] ?? '', error: errors[name] });
  return page({
    title: 'Create a Slipway account',
    formTargets: [returnOrigin],
    body: `<h1>Create an account</h1>
${Object.keys(errors).length === 0 ? '' : '<p class="error" role="alert">Correct what is marked below.</p>'}
<form method="post" action="${escapeHtml(action)}">
${field({ ...of('name'), label: 'Name', autocomplete: 'name', autofocus: true })}
${field({ ...of('email'), label: 'E-mail', type: 'email', autocomplete: 'email' })}
${field({ ...of('username'), label: 'User name', autocomplete: 'username' })}
${field({ name: 'password', label: `Password (at least ${MIN_PASSWORD_LENGTH} characters)`, type: 'password', autocomplete: 'new-password', minLength: MIN_PASSWORD_LENGTH, error: errors['password'] })}
<button type="submit">Create account</button>
</form>
<p class="note">You have one? <a href="${escapeHtml(signInHref)}">Sign in</a></p>`,
  });
}

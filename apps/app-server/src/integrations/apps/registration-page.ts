import type { RegistrationForm } from '@slipway/integrations';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (each) => ESCAPES[each] ?? each);

/**
 * A page of its own, since only its own policy lets a form lead to the provider; without scripts the user presses the
 * button.
 */
export function registrationPage(
  { action, fields }: RegistrationForm,
  nonce: string,
): { readonly html: string; readonly policy: string } {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  const { host, origin } = new URL(action);
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Create an app at ${escaped(host)}</title></head>
<body style="font: 1rem/1.5 system-ui; margin: 15vh auto; max-width: 30rem; padding: 0 1rem">
<p>You are sent on to ${escaped(host)}, which asks you to confirm the app.</p>
<form id="register" method="post" action="${escaped(action)}">${inputs.join('')}<button>Continue to ${escaped(host)}</button></form>
<script nonce="${nonce}">document.getElementById('register').submit()</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "style-src 'unsafe-inline'",
    `form-action ${origin}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { html, policy };
}

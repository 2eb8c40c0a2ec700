import { type Page, page } from './layout.js';

/**
 * Signs out by itself; without scripts the user presses the button. @param form oidc-provider's, with its token against
 * forged requests.
 */
export function signOutPage(form: string, returnOrigin: string): Page {
  const ours = form.replace(
    '</form>',
    '<input type="hidden" name="logout" value="yes"><button>Sign out</button></form>',
  );
  return page({
    title: 'Sign out of Slipway',
    body: `<h1>Signing out</h1>${ours}`,
    formTargets: [returnOrigin],
    script: 'document.forms[0].submit()',
  });
}

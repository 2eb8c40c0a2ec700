import { CookieClient } from '../cookie-client.js';
import type { GiteaUser } from './gitea-user.js';

/** What Gitea's form of consent sends, which its page repeats from the question. */
const REPEATED = ['client_id', 'redirect_uri', 'scope', 'state', 'nonce'];

/**
 * A user signs in to Gitea in a browser, and lets an OAuth2 application act for them.
 * @param asked address at `/login/oauth/authorize`. @returns where Gitea sends the browser with the code, not opened
 * yet.
 * @throws Error that shows the page where it stopped.
 */
export async function giveConsent(user: GiteaUser, asked: string | URL): Promise<URL> {
  const { browser, post } = await signedIn(user);
  const question = await browser.send(asked);
  if (question.status !== 200) return destination(question);
  const form = new URLSearchParams({ granted: 'true' });
  for (const name of REPEATED) form.set(name, new URL(asked).searchParams.get(name) ?? '');
  return destination(await post('/login/oauth/grant', form));
}

/** A user takes back what they let OAuth2 applications do. @throws as `giveConsent`, and where there is nothing. */
export async function takeBackConsents(user: GiteaUser): Promise<void> {
  const { browser, post } = await signedIn(user);
  const page = await (await browser.send(`${user.url}/user/settings/applications`)).text();
  const places = new Set(page.match(/\/user\/settings\/applications\/oauth2\/\d+\/revoke\/\d+/g));
  if (places.size === 0) throw new Error(`Gitea shows no consent of ${user.login}: ${page.slice(0, 2_000)}`);
  for (const place of places) {
    const { status } = await post(place, new URLSearchParams());
    if (status >= 400) throw new Error(`Gitea does not take a consent back (${status})`);
  }
}

async function signedIn(user: GiteaUser) {
  const browser = new CookieClient();
  const post = (path: string, body: URLSearchParams): Promise<Response> =>
    browser.send(`${user.url}${path}`, { method: 'POST', body, headers: { origin: user.url } });
  const answer = await post('/user/login', new URLSearchParams({ user_name: user.login, password: user.password }));
  if (answer.status !== 303)
    throw new Error(
      `Gitea does not sign ${user.login} in (${answer.status}): ${(await answer.text()).slice(0, 2_000)}`,
    );
  return { browser, post };
}

/** Without a question when it was answered before. */
async function destination(response: Response): Promise<URL> {
  const location = response.headers.get('location');
  if (location === null)
    throw new Error(
      `Gitea answered ${response.status} and sends the browser nowhere: ${(await response.text()).slice(0, 2_000)}`,
    );
  return new URL(location, response.url);
}

import { CookieClient, type SignedInClient, signIn, submitForm } from '@slipway/testing';

/** A user who registers on the sign-in page, signed in. */
export async function register(url: string, name: string, username: string): Promise<SignedInClient> {
  const browser = new CookieClient();
  const page = await browser.follow(`${url}/oauth/login?redirect=/api/v1/me`);
  const form = await browser.follow(`${page.url.href}/register`);
  await submitForm(browser, form, {
    name,
    email: `${username}@example.test`,
    username,
    password: 'correct horse battery',
  });
  return signIn(url, { username, password: 'correct horse battery' });
}

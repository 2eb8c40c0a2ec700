import type { Browser, BrowserContext, Page } from 'playwright-core';

/** A user at a computer of their own: a browser without cookies. */
export class UserInChromium {
  readonly page: Page;
  private readonly context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
  }

  static async at(browser: Browser, url: string): Promise<UserInChromium> {
    // The company's form may lead to the realm only, by its own policy; that the realm sends browsers on to the app is
    // none of its business.
    const context = await browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(url);
    return new UserInChromium(context, page);
  }

  /** Fills in the page's form by the names of its fields, and sends it. */
  async fill(values: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(values)) await this.page.locator(`input[name="${name}"]`).fill(value);
    await this.page.locator('form [type="submit"]:not([name="cancel"])').first().click();
  }

  async register(
    user: Readonly<{ username: string; password: string; email: string; firstName: string; lastName: string }>,
  ): Promise<void> {
    const { password, ...profile } = user;
    await this.page.getByRole('link', { name: 'Register' }).click();
    await this.page.locator('input[name="firstName"]').waitFor();
    // A realm that requires a verified address asks for the password only after that.
    const withPassword = (await this.page.locator('input[name="password"]').count()) > 0;
    await this.fill({ ...profile, ...(withPassword ? { password, 'password-confirm': password } : {}) });
  }

  /** Ends at an address of the app that answers JSON, and reads it. */
  async json<T>(url: string): Promise<T> {
    await this.page.waitForURL(url);
    return JSON.parse(await this.page.locator('body').innerText()) as T;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

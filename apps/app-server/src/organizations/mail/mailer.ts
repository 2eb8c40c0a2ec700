import { createTransport, type Transporter } from 'nodemailer';

/** From the first byte to the mail server to its answer. Milliseconds; each, so a send ends within the sum. */
const CONNECT_MS = 10_000;
const GREETING_MS = 10_000;
const SILENCE_MS = 20_000;

export interface Mail {
  /** Of `app.outgoing_mail`: the same mail sent again bears the same Message-ID, so that a mailbox shows it once. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  /** Plain text: nothing in it is read as anything else. */
  readonly text: string;
}

/**
 * Mail over one SMTP server, over connections that are kept. TLS as the URL says: `smtps:` from the start, `smtp:` by
 * STARTTLS where the server offers it.
 */
export class Mailer {
  private readonly transport: Transporter;
  private readonly domain: string;

  /** @param from address, or `Name <address>`. */
  constructor(
    smtpUrl: string,
    private readonly from: string,
  ) {
    this.transport = createTransport(
      {
        url: smtpUrl,
        pool: true,
        maxConnections: 2,
        connectionTimeout: CONNECT_MS,
        greetingTimeout: GREETING_MS,
        socketTimeout: SILENCE_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      } as never,
      { from },
    );
    this.domain = /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? 'slipway.invalid';
  }

  /**
   * Resolves when the mail server has taken it. @throws what the server or the connection said; `isRefused` tells
   * whether that stays so.
   */
  async send(mail: Mail): Promise<void> {
    await this.transport.sendMail({
      to: { name: '', address: mail.to },
      subject: mail.subject,
      text: mail.text,
      messageId: `<${mail.id}@${this.domain}>`,
      from: this.from,
    });
  }

  close(): void {
    this.transport.close();
  }
}

/**
 * Whether a failure is the server's last word on this mail (a 5xx answer), not one of the moment or of the connection.
 */
export function isRefused(error: unknown): boolean {
  const { responseCode, code } = (error ?? {}) as { responseCode?: unknown; code?: unknown };
  return typeof responseCode === 'number' && responseCode >= 500 && responseCode < 600 && code !== 'EAUTH';
}

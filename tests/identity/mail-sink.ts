import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

export interface Mail {
  readonly to: string;
  /** Headers and body as they came, quoted-printable undone. */
  readonly text: string;
}

/** A mail server that keeps everything and delivers nothing. No sign-in, no encryption. */
export class MailSink {
  readonly mails: Mail[] = [];
  private readonly server: Server = createServer((socket) => this.talk(socket));

  static async listen(): Promise<MailSink> {
    const sink = new MailSink();
    await new Promise<void>((resolve) => sink.server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The first address in the last mail to this user. */
  linkFor(to: string): string | undefined {
    return /https?:\/\/[^\s"<>]+/.exec(this.mails.findLast((mail) => mail.to === to)?.text ?? '')?.[0];
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }

  private talk(socket: Socket): void {
    let buffered = '';
    let to = '';
    let body: string[] | null = null;
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    const hear = (line: string): void => {
      if (body !== null) {
        if (line === '.') {
          this.mails.push({ to, text: unquoted(body.join('\n')) });
          body = null;
          say('250 kept');
        } else body.push(line);
        return;
      }
      const command = line.slice(0, 4).toUpperCase();
      if (command === 'RCPT') to = /<([^>]*)>/.exec(line)?.[1] ?? '';
      if (command === 'DATA') body = [];
      if (command === 'QUIT') socket.end('221 bye\r\n');
      else say(command === 'DATA' ? '354 go on' : '250 ok');
    };
    socket.on('error', () => socket.destroy());
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      buffered += chunk;
      for (let end = buffered.indexOf('\r\n'); end >= 0; end = buffered.indexOf('\r\n')) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        hear(line);
      }
    });
    say('220 sink');
  }
}

function unquoted(text: string): string {
  return text
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

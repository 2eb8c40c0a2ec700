import type { AgentAction } from '@slipway/contracts/actions';

/** Longest text that is examined. UTF-16 code units. */
const MAX_LENGTH = 20_000;
/** What an address carries beyond its path is data that is sent, from this length on. UTF-16 code units. */
const MUCH = 500;

/** Patterns of secrets: keys of well-known services, private keys, signed tokens. */
const SECRET =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}|\bsk-[\w-]{20,}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+/;

/** A secret that is typed by name: action-server puts the value there, wherever in the text it stands. */
const NAMED_SECRET = /<secret>\s*[A-Za-z_]\w*\s*<\/secret>|<secret:[A-Za-z_]\w*>/;

/** An address of a private network: another machine beside the sandbox. Loopback belongs to the agent. */
const INTERNAL =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[f[cde])|\.(?:internal|intranet|corp|lan|local)$/i;

export interface BrowserRisks {
  readonly high: readonly string[];
  readonly medium: readonly string[];
}

const NONE: BrowserRisks = { high: [], medium: [] };

/**
 * Risks of an action of the browser, as sentences for the user who confirms. Reading a page is none; the effect of a
 * click is unknown.
 */
export function browserRisksOf(action: AgentAction): BrowserRisks {
  switch (action.kind) {
    case 'BrowserNavigateAction':
      return ofAddress(action.url.slice(0, MAX_LENGTH));
    case 'BrowserTypeAction':
      return {
        high: SECRET.test(action.text.slice(0, MAX_LENGTH)) ? ['It types what resembles a secret into a page.'] : [],
        medium: NAMED_SECRET.test(action.text)
          ? ['It types a secret into a page, by name; only the site of that secret takes it.']
          : [],
      };
    case 'BrowserGetStorageAction':
      return { ...NONE, medium: ['It reads the cookies of the browser, which are credentials of signed-in users.'] };
    case 'BrowserSetStorageAction':
      return { ...NONE, medium: ['It changes what the browser is signed in as.'] };
    default:
      return NONE;
  }
}

function ofAddress(wanted: string): BrowserRisks {
  // The browser does so, too.
  const address = wanted.trim();
  const named = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(address) ? address : `https://${address}`;
  const url = URL.canParse(named) ? new URL(named) : null;
  if (url === null) return NONE;
  const carried = `${url.search}${url.hash}`;
  const rules: ReadonlyArray<readonly [boolean, string]> = [
    [url.password !== '', 'The address has a password in it.'],
    [carried.length > MUCH, 'The address carries much data to another machine.'],
    [INTERNAL.test(plainHost(url.hostname)), 'It opens a page of an internal network.'],
  ];
  return {
    high: SECRET.test(decoded(`${url.pathname}${carried}`)) ? ['The address carries what resembles a secret.'] : [],
    medium: rules.flatMap(([holds, says]) => (holds ? [says] : [])),
  };
}

/** Without the dot that names the root; an IPv4 address that is written as one of IPv6 is that address. */
function plainHost(hostname: string): string {
  const [, high, low] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/i.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname.replace(/\.$/, '');
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

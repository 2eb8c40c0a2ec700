import { EgressCredentials } from '@slipway/auth/egress-credential';
import { EGRESS_USER, type EgressClass, isProxied } from '@slipway/contracts/sandboxes';
import { timeOfId } from '@slipway/domain';

/** What a sandbox calls by itself: the platform, and its own servers. */
const DIRECT = ['localhost', '127.0.0.1', '::1', '.svc', '.cluster.local'];
/**
 * How long a credential outlasts the longest lifetime of a sandbox: claims wait for their turn, and pauses for their
 * keeper. Seconds.
 */
const SPARE_SECONDS = 86_400;

export interface EgressOptions {
  /** egress-proxy as sandboxes reach it. */
  readonly proxyUrl: string;
  /** `EGRESS_SECRET`, the same for egress-proxy. */
  readonly secret: string;
  /** Hosts that sandboxes call without the proxy, beside this machine and services of the cluster. */
  readonly direct: readonly string[];
  /** By the name of the template. */
  readonly classes: ReadonlyMap<string, EgressClass>;
  /** Longest that a session has its sandbox. Seconds. */
  readonly maxAgeSeconds: number;
  /** Certificates that sandboxes trust for hosts at which credential-broker opens TLS; `null`: there is none. PEM. */
  readonly ca: string | null;
}

/** The sandbox that is being given to a claim. */
export interface Activating {
  readonly orgId: string;
  readonly claimId: string;
  /** Whose sandbox it is: the conversation, where it is one's. */
  readonly sessionId: string;
  /** Name of its template. */
  readonly template: string;
  /** Of its agent-server, `http://ADDRESS:PORT`. */
  readonly address: string;
}

/**
 * How programs in a sandbox find egress-proxy and say whose they are: the variables that git, curl, pip, npm and Node
 * read, and the certificates by which credential-broker speaks. The credential is of one claim and one pod; it is made
 * of nothing but what the claim's row and the configuration say, so that an activation which any replica repeats says
 * the same to the byte. It is kept nowhere but in the sandbox.
 */
export class EgressEnvironment {
  private readonly credentials: EgressCredentials;
  private readonly proxyUrl: URL;
  private readonly direct: string;

  constructor(private readonly options: EgressOptions) {
    this.credentials = new EgressCredentials(options.secret);
    this.proxyUrl = new URL(options.proxyUrl);
    this.direct = [...new Set([...DIRECT, ...options.direct])].join(',');
  }

  /** @param environment JSON, whose own words on proxies lose: nothing else is reachable. @returns JSON. */
  addTo(environment: string, { orgId, claimId, sessionId, template, address }: Activating): string {
    const egress = this.options.classes.get(template);
    if (egress === undefined || !isProxied(egress)) return environment;
    const password = this.credentials.sign({
      claim: claimId,
      org: orgId,
      conversation: sessionId,
      template,
      egress,
      address: new URL(address).hostname.replace(/^\[|\]$/g, ''),
      exp: Math.floor(timeOfId(claimId).getTime() / 1000) + this.options.maxAgeSeconds + SPARE_SECONDS,
    });
    const proxy = `${this.proxyUrl.protocol}//${EGRESS_USER}:${password}@${this.proxyUrl.host}`;
    const variables = {
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      NO_PROXY: this.direct,
      http_proxy: proxy,
      https_proxy: proxy,
      no_proxy: this.direct,
      NODE_USE_ENV_PROXY: '1',
      ...(this.options.ca === null ? {} : { SLIPWAY_EGRESS_CA: this.options.ca }),
    };
    return JSON.stringify({ ...(JSON.parse(environment) as Record<string, string>), ...variables });
  }
}

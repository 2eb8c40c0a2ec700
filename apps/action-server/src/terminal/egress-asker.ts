import { EGRESS_USER } from '@slipway/contracts/sandboxes';

/** Variables in which programs find egress-proxy. */
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'] as const;
const OURS = new RegExp(`^(https?://${EGRESS_USER})(?:\\.[A-Za-z0-9_-]*)?(:[^@]*@.*)$`);

/**
 * The environment, whose programs name at egress-proxy who asks: an action by its id, or one of `EGRESS_ASKERS`. It is
 * the user's name in the proxy's address; whose sandbox it is stands in the password. A proxy of another kind stays.
 */
export function askedBy(env: Readonly<Record<string, string>>, asker: string | undefined): Record<string, string> {
  const named = Object.fromEntries(
    PROXIES.flatMap((name) => {
      const [, before, after] = OURS.exec(env[name] ?? '') ?? [];
      return before === undefined || after === undefined
        ? []
        : [[name, `${before}${asker === undefined ? '' : `.${asker}`}${after}`]];
    }),
  );
  return { ...env, ...named };
}

/** egress-proxy with the password of this sandbox; `null`: the variables name none, or one that is spoken to by TLS. */
export function egressProxyOf(env: Readonly<Record<string, string>>): URL | null {
  const proxy = env['HTTPS_PROXY'] ?? '';
  return proxy.startsWith('http://') && OURS.test(proxy) && URL.canParse(proxy) ? new URL(proxy) : null;
}

/** Whether the two values of a variable differ in nothing but who asks. */
export function isOnlyAsker(before: string | undefined, after: string): boolean {
  const [, user, rest] = OURS.exec(after) ?? [];
  const [, userBefore, restBefore] = OURS.exec(before ?? '') ?? [];
  return user !== undefined && user === userBefore && rest === restBefore;
}

/**
 * The same as a function of bash, for a shell that runs many commands: `$1` is who asks. It reads the variables as they
 * are, so that what a command has set or unset stays, one that is readonly too, and changes nothing else that a command
 * could see.
 */
export function nameAsker(name: string): string {
  const value = '__slipway_value';
  const user = `://${EGRESS_USER}`;
  return [
    `${name}() { builtin local __slipway_name ${value}; for __slipway_name in ${PROXIES.join(' ')}; do`,
    `${value}=\${!__slipway_name-}; if [[ $${value} == http*${user}[.:]*@* ]]; then`,
    `builtin printf -v "$__slipway_name" %s "\${${value}%%://*}${user}\${1:+.$1}:\${${value}#*${user}*:}" || builtin :; fi; done; }`,
  ].join(' ');
}

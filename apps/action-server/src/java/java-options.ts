/** Read by every JVM at its start, which says so on standard error. */
export const JAVA_OPTIONS = 'JAVA_TOOL_OPTIONS';

/**
 * What makes Java go through egress-proxy and trust what the sandbox trusts: it reads neither `HTTPS_PROXY` nor a file
 * of roots. Maven reads the properties of the JVM only when it is asked to.
 * @param port of `ProxyRelay`; `null`: there is no proxy. @param roots a file of `trustStoreOf`; `null`: Java's own.
 * @param direct a value of `NO_PROXY`.
 * @returns `null` where there is nothing to say.
 */
export function javaOptions({
  port,
  roots,
  direct,
}: {
  readonly port: number | null;
  readonly roots: string | null;
  readonly direct: string;
}): string | null {
  const proxy =
    port === null
      ? []
      : [
          ...['http', 'https'].flatMap((scheme) => [
            `-D${scheme}.proxyHost=127.0.0.1`,
            `-D${scheme}.proxyPort=${port}`,
          ]),
          `-Dhttp.nonProxyHosts=${withoutProxy(direct)}`,
          '-Daether.connector.http.useSystemProperties=true',
        ];
  // The variable has no way to write a space.
  const trust =
    roots === null || /[\s'"]/.test(roots)
      ? []
      : [`-Djavax.net.ssl.trustStore=${roots}`, '-Djavax.net.ssl.trustStoreType=JKS'];
  const all = [...proxy, ...trust];
  return all.length === 0 ? null : all.join(' ');
}

/** `.svc` is `*.svc` to Java. */
function withoutProxy(direct: string): string {
  const hosts = direct.split(',').flatMap((entry) => {
    const host = entry.trim();
    if (!/^[\w.:-]+$/.test(host)) return [];
    return [host.startsWith('.') ? `*${host}` : host.includes(':') ? `[${host}]` : host];
  });
  return hosts.join('|');
}

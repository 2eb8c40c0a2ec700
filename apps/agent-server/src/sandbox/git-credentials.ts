import type { SandboxSecrets } from '@slipway/contracts/agent';

/**
 * The environment by which git, in any process, authenticates at the granted hosts: settings that are in no file, and a
 * helper that reads the password from a variable, so that it is in no URL, no `.git/config` and no argument of a
 * process. Over https alone, but for this machine itself. Repositories of `relays` keep their address in visible
 * output; git fetches them from the relay, and sends the token only there.
 */
export function gitCredentialEnv(
  git: SandboxSecrets['git'],
  relays: NonNullable<SandboxSecrets['relays']> = [],
): Record<string, string> {
  const env: Record<string, string> = {};
  let settings = 0;
  const set = (key: string, value: string): void => {
    env[`GIT_CONFIG_KEY_${settings}`] = key;
    env[`GIT_CONFIG_VALUE_${settings}`] = value;
    settings += 1;
  };
  // Helpers of the image are asked for nothing.
  if (git.length > 0) set('credential.helper', '');
  for (const [index, { host, username, password }] of git.entries()) {
    env[`SLIPWAY_GIT_USERNAME_${index}`] = username;
    env[`SLIPWAY_GIT_PASSWORD_${index}`] = password;
    const schemes = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host) ? ['https', 'http'] : ['https'];
    for (const scheme of schemes) {
      const key = `credential.${scheme}://${host}.helper`;
      set(
        key,
        `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$SLIPWAY_GIT_USERNAME_${index}" "$SLIPWAY_GIT_PASSWORD_${index}"; }; f`,
      );
    }
  }
  for (const { repository, through, token } of relays) {
    set(`url.${through}.insteadOf`, repository);
    // git compares whole segments of a path, and people write both.
    for (const address of [through, `${through}.git`])
      set(`http.${address}.extraHeader`, `authorization: Bearer ${token}`);
  }
  return settings === 0 ? {} : { ...env, GIT_CONFIG_COUNT: String(settings) };
}

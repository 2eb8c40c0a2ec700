import { pythonEnvironment } from '@slipway/testing/programs';

const VERSION = '4.32.5';

/**
 * Schemathesis in an environment of its own, kept from run to run. @returns the program, or a sentence that says why
 * there is none here.
 */
export async function schemathesis(): Promise<{ readonly program: string } | { readonly missing: string }> {
  const environment = await pythonEnvironment({
    name: `schemathesis/${VERSION}`,
    packages: [`schemathesis==${VERSION}`],
  });
  if ('missing' in environment) return { missing: `The API is not tried with Schemathesis: ${environment.missing}` };
  return { program: environment.program('schemathesis') };
}

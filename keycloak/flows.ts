type Json = Readonly<Record<string, unknown>>;

/** What the tokens call a sign-in with a second factor: app-server's OIDC_SECOND_FACTOR_ACR. */
const SECOND_FACTOR_ACR = 'second-factor';
/** How long an authentication counts for sign-ins without a new one. Seconds. */
const PROOF_SECONDS = '36000';
const FORMS = 'slipway forms';
const PASSWORD = 'slipway password';
const ASKED_FACTOR = 'slipway second factor, asked for';
const OWN_FACTOR = 'slipway second factor, set up';

/**
 * The way in: a password (or a provider), and a one-time code for users who have set one up. When a sign-in asks for
 * `second-factor` (`acr_values`), the code is needed, and users without one set it up there. The methods used are in
 * the token: `acr`, and `amr` for a voluntary code. Keycloak makes the flows that are not named here by itself, but for
 * these three.
 */
export function authenticationFlows(): Json {
  return {
    browserFlow: 'browser',
    authenticationFlows: [
      flow('browser', 'basic-flow', [
        step('auth-cookie', 'ALTERNATIVE'),
        step('identity-provider-redirector', 'ALTERNATIVE'),
        sub(FORMS, 'ALTERNATIVE'),
      ]),
      subflow(FORMS, 'basic-flow', [
        sub(PASSWORD, 'CONDITIONAL'),
        sub(ASKED_FACTOR, 'CONDITIONAL'),
        sub(OWN_FACTOR, 'CONDITIONAL'),
      ]),
      subflow(PASSWORD, 'basic-flow', [
        step('conditional-level-of-authentication', 'REQUIRED', 'slipway level 1'),
        step('auth-username-password-form', 'REQUIRED'),
      ]),
      subflow(ASKED_FACTOR, 'basic-flow', [
        step('conditional-level-of-authentication', 'REQUIRED', 'slipway level 2'),
        step('auth-otp-form', 'REQUIRED', 'slipway code, asked for'),
      ]),
      subflow(OWN_FACTOR, 'basic-flow', [
        step('conditional-sub-flow-executed', 'REQUIRED', 'slipway no code yet'),
        step('conditional-user-configured', 'REQUIRED'),
        step('auth-otp-form', 'REQUIRED', 'slipway code, set up'),
      ]),
      flow('registration', 'basic-flow', [
        { ...step('registration-page-form', 'REQUIRED'), authenticatorFlow: true, flowAlias: 'registration form' },
      ]),
      subflow('registration form', 'form-flow', [
        step('registration-user-creation', 'REQUIRED'),
        step('registration-password-action', 'REQUIRED'),
        step('registration-terms-and-conditions', 'DISABLED'),
      ]),
      flow('direct grant', 'basic-flow', [
        step('direct-grant-validate-username', 'REQUIRED'),
        step('direct-grant-validate-password', 'REQUIRED'),
      ]),
    ],
    authenticatorConfig: [
      config('slipway level 1', { 'loa-condition-level': '1', 'loa-max-age': PROOF_SECONDS }),
      config('slipway level 2', { 'loa-condition-level': '2', 'loa-max-age': PROOF_SECONDS }),
      config('slipway no code yet', { flow_to_check: ASKED_FACTOR, check_result: 'not-executed' }),
      config('slipway code, asked for', {
        'default.reference.value': 'otp',
        'default.reference.maxAge': PROOF_SECONDS,
      }),
      config('slipway code, set up', { 'default.reference.value': 'otp', 'default.reference.maxAge': PROOF_SECONDS }),
    ],
    attributes: { 'acr.loa.map': JSON.stringify({ password: 1, [SECOND_FACTOR_ACR]: 2 }) },
  };
}

/** One after the other, in the order in which they stand. */
function flow(alias: string, providerId: string, executions: readonly Json[], topLevel = true): Json {
  return {
    alias,
    providerId,
    topLevel,
    builtIn: topLevel,
    description: '',
    authenticationExecutions: executions.map((execution, index) => ({ ...execution, priority: (index + 1) * 10 })),
  };
}

const subflow = (alias: string, providerId: string, executions: readonly Json[]): Json =>
  flow(alias, providerId, executions, false);

function step(authenticator: string, requirement: string, authenticatorConfig?: string): Json {
  return {
    authenticator,
    requirement,
    authenticatorFlow: false,
    userSetupAllowed: false,
    ...(authenticatorConfig === undefined ? {} : { authenticatorConfig }),
  };
}

function sub(flowAlias: string, requirement: string): Json {
  return { flowAlias, requirement, authenticatorFlow: true, userSetupAllowed: false };
}

function config(alias: string, values: Readonly<Record<string, string>>): Json {
  return { alias, config: values };
}

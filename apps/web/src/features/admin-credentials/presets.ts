import type { MessageKey } from '../../messages/translate.ts';
import { type CredentialValues, gitPlace, newPlace, newUse, type UseValues } from './credential-values.ts';

interface Preset {
  readonly label: MessageKey;
  readonly name: string;
  /** @param id of its one place. */
  readonly use: (id: string) => UseValues;
}

/** Credentials that many need, as they should be narrow. A host that is another one everywhere is left to be typed. */
export const PRESETS = {
  github: {
    label: 'adminCredentials.presetGithub',
    name: 'GITHUB_TOKEN',
    use: (id) => newUse([gitPlace(id, 'github.com')], { form: 'basic' }),
  },
  gitlab: {
    label: 'adminCredentials.presetGitlab',
    name: 'GITLAB_TOKEN',
    use: (id) => newUse([gitPlace(id, 'gitlab.com')], { form: 'basic' }),
  },
  npm: {
    label: 'adminCredentials.presetNpm',
    name: 'NPM_TOKEN',
    use: (id) => newUse([newPlace(id, { methods: 'read' })], { form: 'bearer' }),
  },
  pypi: {
    label: 'adminCredentials.presetPypi',
    name: 'PYPI_TOKEN',
    use: (id) => newUse([newPlace(id, { methods: 'read' })], { form: 'basic', username: '__token__' }),
  },
  openai: {
    label: 'adminCredentials.presetOpenai',
    name: 'OPENAI_API_KEY',
    use: (id) => newUse([newPlace(id, { host: 'api.openai.com', paths: '/v1/**' })], { form: 'bearer' }),
  },
  aws: {
    label: 'adminCredentials.presetAws',
    name: 'AWS_SECRET_ACCESS_KEY',
    use: (id) => newUse([newPlace(id, { host: 's3.us-east-1.amazonaws.com' })], { form: 'aws-sigv4' }),
  },
  githubApp: {
    label: 'adminCredentials.presetGithubApp',
    name: 'GITHUB_APP',
    use: (id) =>
      newUse([gitPlace(id, 'github.com'), newPlace(`${id}-api`, { host: 'api.github.com', paths: '/repos/**' })], {
        form: 'github-app',
      }),
  },
  googleCloud: {
    label: 'adminCredentials.presetGoogleCloud',
    name: 'GOOGLE_CLOUD',
    use: (id) =>
      newUse([newPlace(id, { host: 'storage.googleapis.com' })], {
        form: 'token-exchange',
        tokenUrl: 'https://sts.googleapis.com/v1/token',
        scope: 'https://www.googleapis.com/auth/cloud-platform',
        clientAuth: 'none',
      }),
  },
  workload: {
    label: 'adminCredentials.presetWorkload',
    name: 'WORKLOAD_TOKEN',
    use: (id) => newUse([newPlace(id)], { form: 'workload-token' }),
  },
} as const satisfies Record<string, Preset>;

export type PresetId = keyof typeof PRESETS;
export const PRESET_IDS = Object.keys(PRESETS) as readonly PresetId[];

/** Fills the form; a name that was typed stays. */
export function presetValues(values: CredentialValues, preset: PresetId, id: string): CredentialValues {
  const { name, use } = PRESETS[preset];
  const isTyped = values.name !== '' && !PRESET_IDS.some((each) => PRESETS[each].name === values.name);
  return { ...values, name: isTyped ? values.name : name, use: use(id) };
}

import { z } from 'zod';
import { EnvironmentName, PageQuery, pageOf, RepositoryUrl } from '../conversations/conversations.js';

/**
 * Secrets: what agents get as environment variables and git as passwords. A value goes in and never comes out of the
 * API again.
 */

/**
 * Its scope, from the widest to the narrowest; of two with one name the narrower is given. `person`: in the
 * conversations that this user has started.
 */
export const SECRET_SCOPES = ['org', 'environment', 'repository', 'person', 'conversation'] as const;
export const SecretScope = z.enum(SECRET_SCOPES);
export type SecretScope = z.infer<typeof SecretScope>;

/**
 * `variable`: the agent's commands see it under its name. `git`: git's credential at `host`; no command sees it under
 * its name.
 */
export const SecretKind = z.enum(['variable', 'git']);
export type SecretKind = z.infer<typeof SecretKind>;

/** Largest value. Bytes of UTF-8. */
export const MAX_SECRET_BYTES = 64 * 1024;
/** Most that an organization has of scopes `org`, `environment` and `repository` together. */
export const MAX_ORG_SECRETS = 500;
/** Limits of the secrets of one user, and of one conversation's own. */
export const MAX_OWN_SECRETS = 50;

/**
 * Names that a shell, git or the sandbox itself acts on: as a secret they would break every command, or run another.
 */
const TAKEN_NAMES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|SHELLOPTS|BASHOPTS|BASH_ENV|BASH_FUNC_.*|ENV|IFS|PWD|OLDPWD|PS[0-4]|PROMPT_COMMAND|TERM|TMPDIR|HOSTNAME|NODE_OPTIONS|PYTHONSTARTUP|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS|(?:LD|DYLD)_.*|GIT_(?!(?:\w*_)?(?:TOKEN|PASSWORD|USERNAME|USER|SECRET)$).*|SSH_ASKPASS|SLIPWAY_.*)$/;

export const SecretName = z
  .string()
  .max(128)
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'must be the name of an environment variable: letters, digits and _, not a digit first',
  )
  .refine((name) => !TAKEN_NAMES.test(name), 'is a name that the shell, git or the sandbox itself uses');

export const SecretValue = z
  .string()
  .min(1)
  .max(MAX_SECRET_BYTES)
  .refine((value) => !value.includes('\u0000'), 'must not contain the character NUL')
  .refine(
    (value) => new TextEncoder().encode(value).length <= MAX_SECRET_BYTES,
    `must have at most ${MAX_SECRET_BYTES} bytes`,
  );

/** `github.com`, `git.example:8443`: as it stands in the URLs of repositories, lower case. */
export const GitHost = z
  .string()
  .max(255)
  .transform((host) => host.toLowerCase())
  .pipe(z.string().regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?$/, 'is not a host name'));

/**
 * The one form of a repository's URL that secrets are matched by: no `.git`, no slash at its end, no query; host in
 * lower case.
 */
export function repositoryKey(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '').replace(/\.git$/i, '')}`;
}

const description = z.string().trim().max(500).default('');
const username = z
  .string()
  .min(1)
  .max(255)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git reads one line
  .regex(/^[^\u0000-\u001f\u007f:]+$/, 'has no colon and no control characters');

const content = z.strictObject({
  name: SecretName,
  kind: SecretKind.default('variable'),
  value: SecretValue,
  /**
   * With `kind: git`, required: where it is sent, over https, and nowhere else. The name is only a label then. With
   * `kind: variable`: the one site into whose pages the agent may have its browser type it by name. Without: into none
   * but servers of the sandbox itself.
   */
  host: GitHost.optional(),
  /** With `kind: git`: the user that git names beside it; GitHub and GitLab take any with a token. */
  username: username.optional(),
  description,
});

function kindFits(
  body: { kind: SecretKind; value: string; host?: string | undefined; username?: string | undefined },
  context: z.RefinementCtx,
): void {
  const problem = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
  if (body.kind === 'git' && body.host === undefined) problem('host', 'is required for a git secret');
  if (body.kind === 'git' && /[\r\n]/.test(body.value)) problem('value', 'of a git secret is one line');
  if (body.kind === 'variable' && body.username !== undefined) problem('username', 'is for git secrets only');
}

/** `POST …/me/secrets` and `POST …/conversations/{conversation}/secrets`. */
export const CreateOwnSecret = content.superRefine(kindFits);
export type CreateOwnSecret = z.infer<typeof CreateOwnSecret>;

/** `POST …/secrets`. */
export const CreateSecret = content
  .extend({
    scope: SecretScope.exclude(['person']).default('org'),
    /** The environment's name, the repository's URL or the conversation's id; absent for `org`. */
    scopeValue: z.string().min(1).max(2048).optional(),
  })
  .superRefine((body, context) => {
    kindFits(body, context);
    const check = {
      org: z.undefined(),
      environment: EnvironmentName,
      repository: RepositoryUrl,
      conversation: z.uuid(),
    }[body.scope];
    const parsed = check.safeParse(body.scopeValue);
    if (!parsed.success)
      context.addIssue({
        code: 'custom',
        path: ['scopeValue'],
        message:
          body.scope === 'org'
            ? 'is not used with the scope org'
            : `does not name ${body.scope === 'environment' ? 'an' : 'a'} ${body.scope}`,
      });
  });
export type CreateSecret = z.infer<typeof CreateSecret>;

/** `PATCH`: name, kind and scope stay; what is left out stays. */
export const UpdateSecret = z.strictObject({
  value: SecretValue.optional(),
  username: username.optional(),
  description: z.string().trim().max(500).optional(),
});
export type UpdateSecret = z.infer<typeof UpdateSecret>;

const user = z.object({ id: z.string(), label: z.string() });

/** All that anybody is ever shown of a secret. */
export const Secret = z.object({
  id: z.string(),
  name: z.string(),
  kind: SecretKind,
  scope: SecretScope,
  /** Environment, repository, user's id or conversation's id; `null` for the whole organization. */
  scopeValue: z.string().nullable(),
  host: z.string().nullable(),
  username: z.string().nullable(),
  description: z.string(),
  /** False: the value is too short to be hidden in what agents print. */
  masked: z.boolean(),
  createdBy: user,
  createdAt: z.iso.datetime(),
  updatedBy: user,
  updatedAt: z.iso.datetime(),
  /** When a conversation was last given it. */
  lastUsedAt: z.iso.datetime().nullable(),
});
export type Secret = z.infer<typeof Secret>;

/** `GET …/secrets`: by name; without those of users. */
export const ListSecretsQuery = PageQuery.extend({
  scope: SecretScope.exclude(['person']).optional(),
  scopeValue: z.string().max(2048).optional(),
});
export type ListSecretsQuery = z.infer<typeof ListSecretsQuery>;
export const SecretPage = pageOf(Secret);
export type SecretPage = z.infer<typeof SecretPage>;
/** One user's, or one conversation's own: by name, at most `MAX_OWN_SECRETS`. */
export const SecretList = z.object({ data: z.array(Secret) });
export type SecretList = z.infer<typeof SecretList>;

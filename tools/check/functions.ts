import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** Positional parameters of a function, method or signature: a caller of five reads places, not names. */
const MAX_PARAMETERS = 4;
/** Collaborators of a class: one with six does two jobs. */
const MAX_COLLABORATORS = 5;
/** Lines of a function or component, its own functions included. */
const MAX_LINES = 100;

/** Surroundings that any class may have, by the name of their type. They do no part of its job. */
const SURROUNDINGS =
  /^(Clock|Ids|Logger|AbortSignal|Config|string|number|boolean|Date|null|undefined|\s|\||readonly string\[\])+$/;
/** Modules of Nest wire what they declare: only the container calls their constructors and factories. */
const IS_MODULE = /\.module\.ts$/;

const COMPOSITION_ROOT = 'composition root: makes and wires, decides nothing';
const SWITCH = 'one switch, a short case for each kind';
const ONE_TRANSACTION = 'its steps share one transaction, with a collaborator for each thing that they write';
const ONE_EXCHANGE = 'one exchange with another service in several requests; a split would pass the same state on';
/** Functions and classes that may be over a limit, and why. A row that is not needed any more is reported. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'apps/embedded-identity/src/provider.ts createProvider': COMPOSITION_ROOT,
  'apps/llm-gateway/src/gateway.ts startGateway': COMPOSITION_ROOT,
  'apps/runtime-api/src/app.ts createRuntimeApi': COMPOSITION_ROOT,
  'apps/sandbox-gateway/src/gateway.ts startGateway': COMPOSITION_ROOT,
  'apps/worker/src/worker.ts startWorker': COMPOSITION_ROOT,
  'apps/web/src/features/conversation/rows/tool-step.tsx toolStep': SWITCH,
  'apps/web/src/features/conversation/timeline.ts appendToTimeline': SWITCH,
  'libs/agent/src/prompt.ts unitsOf': SWITCH,
  'apps/web/src/features/conversation/timeline-list.tsx TimelineList':
    'one scroll position, which every handler reads and writes',
  'tools/test/runner.ts runTests': 'the interface of Jest',
  'apps/app-server/src/conversations/confirmation/confirmation.service.ts ConfirmationService': ONE_TRANSACTION,
  'apps/app-server/src/conversations/run-settings/run-settings.service.ts RunSettingsService': ONE_TRANSACTION,
  'apps/app-server/src/integrations/intake/intake.service.ts Intake': ONE_TRANSACTION,
  'apps/app-server/src/log/ingest/ingest.service.ts IngestService': ONE_TRANSACTION,
  'apps/worker/src/integrations/acts.ts Acts': ONE_TRANSACTION,
  'apps/worker/src/integrations/integration-delivery.ts IntegrationDelivery': ONE_TRANSACTION,
  'apps/app-server/src/identity/sign-in/sign-in.service.ts SignInService': ONE_EXCHANGE,
  'apps/app-server/src/integrations/apps/app-installation.service.ts AppInstallationService': ONE_EXCHANGE,
  'apps/app-server/src/integrations/authorization/authorizations.service.ts AuthorizationsService': ONE_EXCHANGE,
  'apps/app-server/src/conversations/conversations.controller.ts ConversationsController':
    'a controller decides nothing: a service for each part of the address',
};

export interface OverLimit {
  readonly name: string;
  readonly line: number;
  readonly sentence: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}
interface Parameter extends Node {
  readonly name?: string;
  readonly decorators?: readonly Node[];
  readonly parameter?: Parameter;
  readonly left?: Parameter;
  readonly right?: Node;
  readonly typeAnnotation?: { readonly typeAnnotation: Node } | null;
}
interface FunctionNode extends Node {
  readonly params: readonly Parameter[];
  readonly id?: { readonly name?: string } | null;
}
interface Named extends Node {
  readonly kind?: string;
  readonly key?: { readonly name?: string; readonly value?: unknown };
  readonly id?: { readonly name?: string } | null;
  readonly value?: Node | null;
  readonly init?: Node | null;
}

/** Functions of a source that are over a limit. @throws Error for a file that is not TypeScript. */
export function overLimits(file: string, source: string): OverLimit[] {
  const { program, errors } = parseSync(file, source);
  const fatal = errors.find((error) => error.severity === 'Error');
  if (fatal !== undefined) throw new Error(`${file}: ${fatal.message}`);
  const found: OverLimit[] = [];
  const names = new Map<unknown, { readonly name: string; readonly isConstructor: boolean }>();
  const classes: string[] = [];

  const name = (value: unknown, as: string | undefined, isConstructor = false): void => {
    if (value && as !== undefined) names.set(value, { name: as, isConstructor });
  };
  const property = (node: unknown): void => {
    const { kind, key, value } = node as Named;
    const isConstructor = kind === 'constructor';
    name(value, isConstructor ? classes.at(-1) : String(key?.name ?? key?.value ?? '(computed)'), isConstructor);
  };
  const enter = (node: unknown): void => {
    classes.push((node as Named).id?.name ?? '(class)');
  };
  const leave = (): void => {
    classes.pop();
  };
  const look = (node: unknown): void => {
    const { params, id, start, end } = node as FunctionNode;
    const { name: called, isConstructor } = names.get(node) ?? {
      name: id?.name ?? '(anonymous)',
      isConstructor: false,
    };
    const report = (sentence: string): void => {
      found.push({ name: called, line: linesOf(source.slice(0, start)), sentence });
    };
    const counted = IS_MODULE.test(file)
      ? 0
      : params.filter((each) => (isConstructor ? isCollaborator(each, source) : isPositional(each))).length;
    if (isConstructor && counted > MAX_COLLABORATORS)
      report(
        `class ${called} has ${counted} collaborators; the limit is ${MAX_COLLABORATORS}: split it along its jobs`,
      );
    if (!isConstructor && counted > MAX_PARAMETERS)
      report(
        `${called} has ${counted} positional parameters; the limit is ${MAX_PARAMETERS}: name the later ones in an object`,
      );
    const lines = linesOf(source.slice(start, end));
    if (lines > MAX_LINES)
      report(`${called} has ${lines} lines; the limit is ${MAX_LINES}: split it along its steps or sections`);
  };
  new Visitor({
    ClassDeclaration: enter,
    'ClassDeclaration:exit': leave,
    ClassExpression: enter,
    'ClassExpression:exit': leave,
    MethodDefinition: property,
    PropertyDefinition: property,
    Property: property,
    VariableDeclarator: (node) => name(node.init, (node as unknown as Named).id?.name),
    TSMethodSignature: (node) => {
      const { key } = node as unknown as Named;
      name(node, String(key?.name ?? '(computed)'));
      look(node);
    },
    FunctionDeclaration: look,
    FunctionExpression: look,
    ArrowFunctionExpression: look,
    TSFunctionType: look,
  }).visit(program);
  return found;
}

/** What Nest fills in is named by its decorator, and nobody calls it by place. */
const isPositional = (parameter: Parameter): boolean =>
  parameter.name !== 'this' && (parameter.decorators ?? []).length === 0;

function isCollaborator(parameter: Parameter, source: string): boolean {
  const own = parameter.parameter ?? parameter;
  const { left, right } = own;
  const annotation = (left ?? own).typeAnnotation?.typeAnnotation;
  if (annotation === undefined) return right?.type !== 'Literal';
  return !SURROUNDINGS.test(source.slice(annotation.start, annotation.end));
}

const linesOf = (text: string): number => text.split('\n').length;

/** What is over a limit without being excepted, and exceptions that nothing needs, as sentences. */
export function functionsOverLimits(root: string, exceptions: Readonly<Record<string, string>> = EXCEPTIONS): string[] {
  const files = globSync('{apps/*/src,libs/*/src,tools}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: [
      '**/node_modules/**',
      '**/dist/**',
      '**/generated/**',
      '**/generated.ts',
      '**/*.d.ts',
      '**/*.test.{ts,tsx}',
      '**/testing/**',
    ],
  });
  const needed = new Set<string>();
  const found = files.sort().flatMap((file) =>
    overLimits(file, readFileSync(path.join(root, file), 'utf8')).flatMap(({ name, line, sentence }) => {
      const row = `${file} ${name}`;
      needed.add(row);
      return row in exceptions ? [] : [`${file}:${line}: ${sentence}`];
    }),
  );
  const stale = Object.keys(exceptions).filter((row) => !needed.has(row));
  return [
    ...found,
    ...stale.map((row) => `tools/check/functions.ts: ${row} is within the limits; take its exception out`),
  ];
}

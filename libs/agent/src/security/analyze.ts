import type { AgentAction } from '@slipway/contracts/actions';
import type { SecurityAnalyzer, SecurityRisk } from '@slipway/contracts/conversations';
import { browserRisksOf } from './browser-rules.js';
import { HIGH_PATTERNS, MEDIUM_PATHS, MEDIUM_PATTERNS, type Pattern } from './patterns.js';
import { railsOf } from './rails.js';
import { commandOf, pathsOf } from './subject.js';

export interface Assessment {
  readonly risk: SecurityRisk;
  /** Short sentences for the user who confirms. */
  readonly reasons: readonly string[];
}

/** What one analyzer is asked about. */
export interface Subject {
  readonly action: AgentAction;
  /** What the model said of its own call. */
  readonly modelRisk: SecurityRisk;
}

const UNKNOWN: Assessment = { risk: 'UNKNOWN', reasons: [] };
const ORDER: readonly SecurityRisk[] = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'];

/** True when `risk` is at least `threshold`. UNKNOWN is below all. */
export function atLeast(risk: SecurityRisk, threshold: SecurityRisk): boolean {
  return ORDER.indexOf(risk) >= ORDER.indexOf(threshold);
}

/**
 * How harmful an action is. Never throws: a rule that cannot be applied counts as not applying, and whoever knows
 * nothing says UNKNOWN.
 */
export function assess(analyzer: SecurityAnalyzer | null, subject: Subject): Assessment {
  switch (analyzer?.kind) {
    case undefined:
      return UNKNOWN;
    case 'LLMSecurityAnalyzer':
      return {
        // What a server says of its tools is in the prompt, and may talk the model into calling them harmless.
        risk: subject.action.kind === 'MCPToolAction' && subject.modelRisk === 'LOW' ? 'UNKNOWN' : subject.modelRisk,
        reasons: atLeast(subject.modelRisk, 'MEDIUM')
          ? [`The agent itself calls this ${subject.modelRisk.toLowerCase()} risk.`]
          : [],
      };
    case 'PatternSecurityAnalyzer':
      return byPatterns(
        subject.action,
        given(analyzer.high_patterns) ?? HIGH_PATTERNS,
        given(analyzer.medium_patterns) ?? MEDIUM_PATTERNS,
      );
    case 'PolicyRailSecurityAnalyzer': {
      const reasons = railsOf(subject.action);
      return reasons.length === 0 ? UNKNOWN : { risk: 'HIGH', reasons };
    }
    case 'EnsembleSecurityAnalyzer':
      return worstOf(
        analyzer.analyzers.map((part) => assess(part, subject)),
        analyzer.propagate_unknown,
      );
  }
}

/** The worst that is known. With `propagateUnknown` one who does not know makes the whole unknown, as in OpenHands. */
function worstOf(assessments: readonly Assessment[], propagateUnknown: boolean): Assessment {
  const reasons = [...new Set(assessments.flatMap(({ reasons }) => reasons))];
  if (propagateUnknown && assessments.some(({ risk }) => risk === 'UNKNOWN')) return { risk: 'UNKNOWN', reasons };
  const risk = assessments.reduce<SecurityRisk>((worst, { risk }) => (atLeast(risk, worst) ? risk : worst), 'UNKNOWN');
  return { risk, reasons };
}

function byPatterns(action: AgentAction, high: readonly Pattern[], medium: readonly Pattern[]): Assessment {
  const text = commandOf(action);
  const paths = pathsOf(action);
  const browser = browserRisksOf(action);
  for (const [risk, patterns] of [
    ['HIGH', high],
    ['MEDIUM', medium],
  ] as const) {
    const found = text === null ? [] : patterns.filter(({ test }) => test.test(text));
    const touched = risk === 'HIGH' ? [] : MEDIUM_PATHS.filter(({ test }) => paths.some((path) => test.test(path)));
    const reasons = [
      ...[...found, ...touched].map(({ says }) => says),
      ...(risk === 'HIGH' ? browser.high : browser.medium),
    ];
    if (reasons.length > 0) return { risk, reasons };
  }
  return UNKNOWN;
}

function given(patterns: ReadonlyArray<readonly [string, string]> | undefined): Pattern[] | undefined {
  return patterns?.flatMap(([source, says]) => {
    try {
      return [{ test: new RegExp(source, 'i'), says }];
    } catch {
      return [];
    }
  });
}

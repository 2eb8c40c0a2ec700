import type { ReactNode } from 'react';

export interface StepParts {
  readonly icon: ReactNode;
  readonly label: ReactNode;
  readonly aside: ReactNode;
  readonly body: ReactNode;
}

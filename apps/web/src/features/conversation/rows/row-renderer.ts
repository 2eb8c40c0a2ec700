import { createContext, type ReactNode } from 'react';
import type { Row } from '../timeline-row.ts';

/** How a row is shown, for a row that shows others inside: it cannot import what imports it. */
export const RowRenderer = createContext<(row: Row) => ReactNode>(() => null);

import { testQuickForms } from './measure/quick-forms.ts';

testQuickForms(4, 4);

//! Where an error is: the text that the model gets names the line and column of its own program.
//! Decision 11; contract 6.4.
